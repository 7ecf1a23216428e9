"""kill -9 at any write while a turn is played and told of: it is told, and always under one name."""

import signal
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hermes_core.testing.forks import Forks

pytestmark = pytest.mark.long

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYqr"


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    """Processes that are killed."""
    with Forks(Path(__file__).with_name("dying.py")) as made:
        yield made


@pytest.mark.parametrize("point", ["storing", "stored", "journaled", "replied", "answered"])
def test_what_ended_is_told_whatever_dies(tmp_path: Path, forks: Forks, listener: Any, point: str) -> None:
    for number in range(1, 40):
        home = tmp_path / str(number)
        home.mkdir()
        env = {"HERMES_HOME": str(home), "HERMES_TESTING": "1", "EVENTS_SECRET_OPS": SECRET}
        listener.heard.clear()
        said = tmp_path / "said"
        first = forks.play(
            env={**env, "HERMES_DIE_AT": f"{point}:{number}"}, output=said, home=str(home), url=listener.url
        )
        assert first in (0, -signal.SIGKILL), said.read_text()
        assert forks.play(env={**env, "HERMES_DIE_AT": ""}, output=said, home=str(home), url=listener.url) == 0
        turns = sqlite3.connect(home / "state.db").execute("SELECT id, state FROM turns").fetchall()
        ended = [one for one in turns if one[1] != "open"]
        names = {headers["webhook-id"] for headers, _ in listener.heard}
        assert len(ended) == len(turns) == len(names) >= 1, (number, turns, names)
        assert len(listener.heard) <= len(names) + 1
        if first == 0:
            break
    assert number > 1
