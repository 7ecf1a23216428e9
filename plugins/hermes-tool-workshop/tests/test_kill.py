"""kill -9 in the middle of writing a tool, and in the middle of a call of one that was written."""

import json
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hermes_core.testing.forks import Forks

pytestmark = pytest.mark.long

Play = Callable[..., tuple[int, list[str]]]


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    with Forks(Path(__file__).with_name("dying.py")) as made:
        yield made


@pytest.fixture
def play(tmp_path: Path, forks: Forks) -> Play:
    """What a process ended with, and what its calls gave."""

    def play(what: str, session: str, die_at: str = "") -> tuple[int, list[str]]:
        home, said = tmp_path / "home", tmp_path / "said"
        said.unlink(missing_ok=True)
        env = {"HERMES_HOME": str(home), "HERMES_TESTING": "1", "HERMES_DIE_AT": die_at}
        status = forks.play(env=env, output=said, home=str(home), what=what, session=session)
        assert status in (0, -signal.SIGKILL), said.read_text()
        return status, [json.loads(line) for line in said.read_text().splitlines()]

    return play


def versions(home: Path) -> list[str]:
    return sorted(p.parent.name for p in (home / "data").glob("*/*/own_mark/*/tool.py"))


@pytest.mark.parametrize("die_at", ["tool_started", "tool_done", "tool_stored"])
def test_writing_is_taken_up_and_done_once(tmp_path, play, die_at):
    assert play("write", "s", die_at)[0] == -signal.SIGKILL
    status, said = play("resume", "s")
    assert status == 0
    assert versions(tmp_path / "home") == ["1"]
    if die_at == "tool_started":
        assert "version 1 is kept" in said[0]
    elif die_at == "tool_done":
        assert "is just this already: version 1" in said[0]
    assert play("call", "t") == (0, ["called "])


@pytest.mark.parametrize(("die_at", "marks"), [("tool_started", "tried "), ("tool_done", "tried called ")])
def test_a_call_that_had_started_is_never_made_twice(tmp_path, play, die_at, marks):
    assert play("write", "s")[0] == 0
    assert play("call", "t", die_at)[0] == -signal.SIGKILL
    status, (said,) = play("resume", "t")
    assert status == 0
    assert "called" not in said, "nobody knows what it did, and so it is told"
    assert (tmp_path / "work" / "marks").read_text() == marks
