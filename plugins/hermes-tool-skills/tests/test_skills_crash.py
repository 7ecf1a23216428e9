"""Killed between any two steps: a skill is what it was or what it was to become, and nothing in between is used."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from hermes_core.testing.forks import Forks

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    with Forks(Path(__file__).with_name("crashing.py")) as made:
        yield made


@pytest.mark.parametrize("what", ["install", "update", "remove", "patch", "propose", "disable"])
def test_killed_at_every_step(tmp_path: Path, forks: Forks, what: str) -> None:
    said = tmp_path / "said"
    status = forks.play(output=said, what=what, folder=str(tmp_path))
    assert status == 0, said.read_text()[-3_000:]
    killed, _before, after = map(int, said.read_text().split()[-3:])
    assert killed >= 4
    assert after >= 1 or what in ("propose", "disable")
