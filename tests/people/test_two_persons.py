"""With and without another person's presence, everything is the same to somebody: requests, answers, listings.

A conversation is random, and the same for its seed: ``pytest tests/people/test_two_persons.py --pairs 1 --first SEED``.
"""

import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from people_house import House, house
from people_judge import comparable, differences, foreign
from people_script import script_of
from people_talk import Talk
from people_telegram import PLACES, said

pytestmark = pytest.mark.long
STEPS = 14
OWN_THREADS = "thread_sessions_per_user: true"


class Play:
    """What came of a conversation for ann: requests of the model, and what she saw."""

    def __init__(self, made: House, talk: Talk) -> None:
        self.requests = [body.decode() for body in made.model.of("ann")]
        self.shown = [said(one) for one in talk.shown()]
        self.api = [f"{step}: {text}" for step, text in talk.api]

    def parts(self) -> dict[str, list[str]]:
        return {"requests": self.requests, "shown": self.shown, "api": self.api}


@contextmanager
def presence(made: House, seed: int) -> Iterator[None]:
    """Let ben do random things at the same time, as long as the block takes."""
    stop, failed = threading.Event(), list[Exception]()
    dice = random.Random(f"presence {seed}")
    talk = Talk(made, "ben", dice, patient=False)

    def run() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            try:
                talk.play(script_of(f"{seed} {number}", "ben", 1, PLACES))
            except Exception as error:  # noqa: BLE001 - it fails the test
                failed.append(error)
                return
            time.sleep(dice.random() * 0.3)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
    if failed:
        raise failed[0]


def play(folder: Path, server, seed: int, *, beside: bool) -> Play:
    """Play the conversation of a seed."""
    with house(folder, server, OWN_THREADS) as made:
        talk = Talk(made, "ann", random.Random(f"ann {seed}"))
        steps = script_of(seed, "ann", STEPS, PLACES)
        if beside:
            with presence(made, seed):
                talk.play(steps)
        else:
            talk.play(steps)
        time.sleep(0.3)
        return Play(made, talk)


def pytest_generate_tests(metafunc) -> None:
    first, pairs = (int(metafunc.config.getoption(name)) for name in ("first", "pairs"))
    metafunc.parametrize("seed", range(first, first + pairs))


@pytest.mark.timeout(600)
def test_nobody_notices_that_somebody_else_is_there(tmp_path, server, seed):
    folder = tmp_path / "house"
    alone = play(folder, server, seed, beside=False).parts()
    beside = play(folder, server, seed, beside=True).parts()
    for part, texts in beside.items():
        assert not foreign(texts, ("ben", "Ben")), (seed, part, [t for t in texts if foreign([t], ("ben", "Ben"))])
    found = {part: differences(comparable(alone[part]), comparable(beside[part])) for part in alone}
    assert not any(found.values()), "\n".join([f"seed {seed}", *(f"{p} {d}" for p, ds in found.items() for d in ds)])
