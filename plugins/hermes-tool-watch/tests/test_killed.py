"""kill -9 while things change and turns are ordered: every change is told, and none twice."""

import json
import os
import random
import re
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from hermes_core.testing.forks import Forks

pytestmark = pytest.mark.long

MANY = 4


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    """Processes that are killed."""
    with Forks(Path(__file__).with_name("dying.py")) as made:
        yield made


class House:
    """A home, and a folder beside it."""

    def __init__(self, folder: Path, forks: Forks) -> None:
        self.folder, self.forks = folder, forks
        folder.mkdir(exist_ok=True)

    def start(self, die_at: str = "") -> int:
        home = self.folder / "home"
        env = {"HERMES_HOME": str(home), "HERMES_TESTING": "1", "HERMES_DIE_AT": die_at}
        (self.folder / "said").unlink(missing_ok=True)
        return self.forks.start(env=env, output=self.folder / "said", home=str(home), upto=MANY)

    def judge(self) -> None:
        """Look to the end, and see what was told: each file as new once, by one turn for each change."""
        self.start()
        status, text = self.forks.wait(), (self.folder / "said").read_text()
        assert status == 0, text
        said: list[Any] = [json.loads(line) for line in text.splitlines()]
        changes = [one for one in said if one[0] == "change"]
        assert {one[1] for one in changes} <= {"done"}
        told = sorted(name for one in changes for name in re.findall(r"new: (\S+)", one[3]))
        there = sorted(path.name for path in (self.folder / "inbox").iterdir())
        before_the_first_look = [name for name in there if name not in told]
        assert told == [name for name in there if name in told], "none is told twice"
        assert not before_the_first_look, "all of them came after it"
        assert sorted(one[1] for one in said if one[0] == "turn") == sorted(one[2] for one in changes)


def test_a_death_at_any_write_tells_each_change_once(tmp_path: Path, forks: Forks) -> None:
    deaths = 0
    for point in ("storing", "stored", "received"):
        for number in range(1, 60):
            house = House(tmp_path / f"{point}-{number}", forks)
            house.start(f"{point}:{number}")
            status = forks.wait()
            assert status in (0, -signal.SIGKILL)
            house.judge()
            if status == 0:
                break
            deaths += 1
    assert deaths > 2 * MANY


def test_killed_at_random_moments(tmp_path: Path, forks: Forks, pytestconfig: pytest.Config) -> None:
    dice, house, took = random.Random(16), House(tmp_path / "it", forks), 1.0
    for _ in range(pytestconfig.getoption("--kills")):
        began = time.monotonic()
        process = house.start()
        time.sleep(dice.random() * took)
        with suppress(ProcessLookupError):  # it was done before
            os.kill(process, signal.SIGKILL)
        if forks.wait() == 0:
            took = time.monotonic() - began
    house.judge()
