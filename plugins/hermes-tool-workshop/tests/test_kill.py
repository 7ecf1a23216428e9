"""kill -9 in the middle of writing a tool, and in the middle of a call of one that was written."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest


def play(home: Path, what: str, session: str, die_at: str = "") -> tuple[int, list[str]]:
    """What a process ended with, and what its calls gave."""
    env = {
        **os.environ,
        "HERMES_HOME": str(home),
        "HERMES_TESTING": "1",
        **({"HERMES_DIE_AT": die_at} if die_at else {}),
    }
    script = str(Path(__file__).with_name("dying.py"))
    done = subprocess.run([sys.executable, script, str(home), what, session], capture_output=True, env=env, check=False)
    assert done.returncode in (0, -signal.SIGKILL), done.stderr.decode()
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


def versions(home: Path) -> list[str]:
    return sorted(p.parent.name for p in (home / "data").glob("*/*/own_mark/*/tool.py"))


@pytest.mark.parametrize("die_at", ["tool_started", "tool_done", "tool_stored"])
def test_writing_is_taken_up_and_done_once(tmp_path, die_at):
    home = tmp_path / "home"
    assert play(home, "write", "s", die_at)[0] == -signal.SIGKILL
    status, said = play(home, "resume", "s")
    assert status == 0
    assert versions(home) == ["1"]
    if die_at == "tool_started":
        assert "version 1 is kept" in said[0]
    elif die_at == "tool_done":
        assert "is just this already: version 1" in said[0]
    assert play(home, "call", "t") == (0, ["called "])


@pytest.mark.parametrize(("die_at", "marks"), [("tool_started", "tried "), ("tool_done", "tried called ")])
def test_a_call_that_had_started_is_never_made_twice(tmp_path, die_at, marks):
    home = tmp_path / "home"
    assert play(home, "write", "s")[0] == 0
    assert play(home, "call", "t", die_at)[0] == -signal.SIGKILL
    status, (said,) = play(home, "resume", "t")
    assert status == 0
    assert "called" not in said, "nobody knows what it did, and so it is told"
    assert (tmp_path / "work" / "marks").read_text() == marks
