"""With and without another person's presence, everything is the same to somebody: requests, answers, listings.

A conversation is random, and the same for its seed: ``pytest tests/people/test_two_persons.py --pairs 1 --first SEED``.
"""

import random
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from people_house import House, house, until
from people_judge import comparable, differences, foreign
from people_script import script_of
from people_talk import Talk
from people_telegram import PLACES, number_of, said

pytestmark = pytest.mark.long
STEPS = 14
BEN = ("ben-", "[Ben", "Ben telegram", str(number_of("ben")))
OWN_THREADS = "thread_sessions_per_user: true"
SHARED = b"/people/telegram-"  # below which a conversation works that a whole group shares


class Play:
    """What came of a conversation for ann: requests of the model, and what she saw."""

    def __init__(self, made: House, talk: Talk, places: tuple[str, ...]) -> None:
        self.requests = [body.decode() for body in made.model.of("ann") if SHARED not in body]
        self.others = [body.decode() for body in made.model.of("ben")]
        self.shown = {place: [said(one) for one in made.phones.shown("ann", place)] for place in places}
        self.api = [f"{step}: {text}" for step, text in talk.api]

    def parts(self) -> dict[str, list[str]]:
        return {"requests": self.requests, **self.shown, "api": self.api}


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
            except Exception as error:
                failed.append(error)
                return
            time.sleep(dice.random() * 0.8)

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
    """Play the conversation of a seed. With every other one a thread is shared, as it is by default; then ann says one
    thing there, and is elsewhere from then on."""
    own = bool(seed % 2)
    with house(folder, server, OWN_THREADS if own else "") as made:
        for place in ("group", "thread"):  # what is told at the first message of a place is told to cat
            made.phones.say("cat", place, "cat-1. hello all")
            _answered(made, "cat", place, "cat-1")
        if not own:
            made.phones.say("ann", "thread", "ann-0. hello all")
            _answered(made, "ann", "thread", "ann-0")
        talk = Talk(made, "ann", random.Random(f"ann {seed}"))
        places = PLACES if own else ("dm", "group")
        steps = script_of(seed, "ann", STEPS, places)
        if beside:
            with presence(made, seed):
                talk.play(steps)
        else:
            talk.play(steps)
        _still(made, talk)
        return Play(made, talk, places)


def _still(made: House, talk: Talk) -> None:
    """Wait until nothing more comes: ben's work may go on, and ann's last message be edited."""
    last, since, deadline = None, time.monotonic(), time.monotonic() + 10
    while time.monotonic() - since < 0.7 and time.monotonic() < deadline:
        now = talk.shown(), len(made.model.bodies)
        last, since = (last, since) if now == last else (now, time.monotonic())
        time.sleep(0.05)


def _answered(made: House, who: str, place: str, tag: str) -> None:
    until(
        lambda: any(f"done {tag}." in said(m) for m in made.phones.shown(who, place)),
        f"{who} is not answered in {place}",
    )


def pytest_generate_tests(metafunc) -> None:
    first, pairs = (int(metafunc.config.getoption(name)) for name in ("first", "pairs"))
    metafunc.parametrize("seed", range(first, first + pairs))


@pytest.mark.timeout(600)
def test_nobody_notices_that_somebody_else_is_there(tmp_path, server, seed):
    folder = tmp_path / "house"
    alone = play(folder, server, seed, beside=False).parts()
    both = play(folder, server, seed, beside=True)
    beside = both.parts()
    assert not _private(both.others)
    for part, texts in beside.items():
        assert not foreign(texts, BEN), (seed, part, [t for t in texts if foreign([t], BEN)])
    found = {part: differences(comparable(alone[part]), comparable(beside[part])) for part in alone}
    assert not any(found.values()), "\n".join([f"seed {seed}", *(f"{p} {d}" for p, ds in found.items() for d in ds)])


def _private(requests: list[str]) -> list[str]:
    """What somebody else's requests know of ann: more than what she said to all of a thread."""
    known = [tag for text in requests for tag in re.findall(r"ann-(\d+)\.", text)]
    return sorted({f"ann-{tag}" for tag in known if tag != "0"})
