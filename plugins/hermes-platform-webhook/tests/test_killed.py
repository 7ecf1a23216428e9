"""kill -9 while services post and what they posted is done: what was answered is done, and nothing is done twice."""

import json
import os
import random
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from hermes_core.testing.forks import Forks

pytestmark = pytest.mark.long

MANY = 7


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    """Processes that are killed."""
    with Forks(Path(__file__).with_name("dying.py")) as made:
        yield made


class House:
    """A home, and what processes said there."""

    def __init__(self, folder: Path, forks: Forks) -> None:
        self.folder, self.forks = folder, forks
        self.answered: set[int] = set()

    def start(self, die_at: str = "") -> int:
        env = {"HERMES_HOME": str(self.folder / "home"), "HERMES_TESTING": "1", "HERMES_DIE_AT": die_at}
        said = self.folder / "said"
        said.unlink(missing_ok=True)
        return self.forks.start(env=env, output=said, home=str(self.folder / "home"), many=MANY)

    def said(self) -> list[Any]:
        """What the last process said; a line that it could not end is none."""
        lines = (self.folder / "said").read_text().splitlines() if (self.folder / "said").exists() else []
        found = [json.loads(line) for line in lines if line.startswith("[") and line.endswith("]")]
        self.answered |= {one[1] for one in found if one[0] == "answered" and one[2] in (200, 202)}
        return found

    def judge(self) -> None:
        """Play to the end, as services do that come again, and look at what there is."""
        self.start()
        status = self.forks.wait()
        assert status == 0, (self.folder / "said").read_text()
        said = self.said()
        rows = [one for one in said if one[0] == "row"]
        assert sorted(one[1] for one in rows) == [f"d-{number}" for number in range(MANY)]
        assert {one[2] for one in rows} == {"done"}
        turns = [one[1] for one in said if one[0] == "turn"]
        assert sorted(turns) == sorted({one[3] for one in rows}), "one turn for each, and no other"
        assert len(turns) == MANY


def test_a_death_at_any_write_loses_none_and_does_none_twice(tmp_path: Path, forks: Forks) -> None:
    deaths = 0
    for point in ("storing", "stored", "received"):
        for number in range(1, 60):
            folder = tmp_path / f"{point}-{number}"
            folder.mkdir()
            house = House(folder, forks)
            house.start(f"{point}:{number}")
            status = forks.wait()
            assert status in (0, -signal.SIGKILL), (folder / "said").read_text()
            house.said()
            house.judge()
            assert house.answered == set(range(MANY))
            if status == 0:
                break
            deaths += 1
    assert deaths > 2 * MANY


def test_killed_at_random_moments(tmp_path: Path, forks: Forks, pytestconfig: pytest.Config) -> None:
    dice, house, took = random.Random(16), House(tmp_path, forks), 1.0
    for _ in range(pytestconfig.getoption("--kills")):
        began = time.monotonic()
        process = house.start()
        time.sleep(dice.random() * took)
        with suppress(ProcessLookupError):  # it was done before
            os.kill(process, signal.SIGKILL)
        if forks.wait() == 0:
            took = time.monotonic() - began
        house.said()
    house.judge()
