"""Eight people at once in one process, each judged: their requests, answers and rows are those they have alone.

Each is the others' presence, so one crowd is eight conversations with somebody there and without. Whose conversation it
is says the seed: ``pytest -m long tests/people/test_crowd.py --talks 8 --first 17``; ``--talks 2000 -n 2`` is the long
run.
"""

import random
import threading
import time
from pathlib import Path

import pytest
from people_house import CROWD, until
from people_judge import comparable, differences, foreign, only_ordered_otherwise
from people_near import Near, near
from people_rows import rows_of_person
from people_script import COMMANDS, script_of
from people_talk import Talk
from people_telegram import PLACES, number_of, said

pytestmark = pytest.mark.long
STEPS = 6
SHARED = b"/people/telegram-"  # below which a conversation works that a whole group shares


class Play:
    """What came of the conversations of some people, each with the seed of their own."""

    def __init__(self, folder: Path, seeds: dict[str, int]) -> None:
        own, told = bool(min(seeds.values()) // len(CROWD) % 2), min(seeds.values()) // len(CROWD) % 4 == 1
        more = ["thread_sessions_per_user: true"] if own else []
        more += [] if told else ["tell_groups: false"]
        self.places = PLACES if own else ("dm", "group")
        with near(folder, "\n  ".join(more), people=("oli", "cat", *CROWD)) as made:
            for number, place in enumerate(PLACES if told else ()):  # what comes of a first message is cat's
                _says(made, "cat", place, f"cat-{number}")
            self.talks = {who: Talk(made, who, random.Random(f"{who} {seed}")) for who, seed in seeds.items()}
            if not own:  # one thing each, and nothing more there: from then on all who share it know it
                for who in seeds:
                    _says(made, who, "thread", f"{who}-0")
            self._all(seeds)
            _still(made)
            self.parts = {who: self._of(made, who) for who in seeds}
        for who, parts in self.parts.items():
            rows = rows_of_person(made.home.home / "state.db", (who, str(number_of(who))))
            parts.update({f"rows of {name}": texts for name, texts in rows.items()})

    def _all(self, seeds: dict[str, int]) -> None:
        """Let each do what their script says, at the same time."""
        failed = list[Exception]()

        def run(who: str, seed: int) -> None:
            try:
                self.talks[who].play(script_of(seed, who, STEPS, self.places))
            except Exception as error:
                failed.append(error)

        threads = [threading.Thread(target=run, args=one, daemon=True) for one in seeds.items()]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failed:
            raise failed[0]

    def _of(self, made: Near, who: str) -> dict[str, list[str]]:
        requests = [body.decode() for body in made.model.of(who) if SHARED not in body]
        shown = {place: [said(one) for one in made.phones.shown(who, place)] for place in self.places}
        return {"requests": requests, **shown, "api": [f"{step}: {text}" for step, text in self.talks[who].api]}


def _says(made: Near, who: str, place: str, tag: str) -> None:
    made.phones.say(who, place, f"{tag}. hello all")
    until(lambda: any(f"done {tag}." in said(m) for m in made.phones.shown(who, place)), f"{who} is not answered")


def _still(made: Near) -> None:
    """Wait until nothing goes on, and look again a moment later."""
    deadline, calm = time.monotonic() + 20, 0
    while calm < 2:
        assert time.monotonic() < deadline, "it does not come to rest"
        calm = calm + 1 if made.is_idle() else 0
        time.sleep(0.005)


def pytest_generate_tests(metafunc) -> None:
    if "crowd" not in metafunc.fixturenames:
        return
    first, talks = (int(metafunc.config.getoption(name)) for name in ("first", "talks"))
    crowds = range((first - 1) // len(CROWD), -(-(first - 1 + talks) // len(CROWD)))
    metafunc.parametrize("crowd", crowds)


def test_every_command_is_played(tmp_path):
    with near(tmp_path / "house") as made:
        assert {one["command"] for one in made.phones.menu()} == set(COMMANDS)


@pytest.mark.timeout(300)
def test_nobody_notices_that_others_are_there(tmp_path, crowd):
    seeds = {who: crowd * len(CROWD) + at for at, who in enumerate(CROWD)}
    beside = Play(tmp_path / "house", seeds).parts
    wrong = []
    for who, seed in seeds.items():
        others = [mark for one in CROWD if one != who for mark in (f"{one}-", str(number_of(one)))]
        wrong += [f"{who} {part}: {t}" for part, texts in beside[who].items() for t in texts if foreign([t], others)]
        alone = Play(tmp_path / "house", {who: seed}).parts[who]
        for part in sorted(alone.keys() | beside[who].keys()):
            one, other = alone.get(part, []), beside[who].get(part, [])
            if not part.startswith("requests") and only_ordered_otherwise(one, other):
                continue
            found = differences(comparable(one), comparable(other))
            wrong += [f"{who} (seed {seed}), {part} {one}" for one in found]
    assert not wrong, "\n".join(wrong)
