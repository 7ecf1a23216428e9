"""What is never done is not done by another program either: 360 spellings of it, which no mode lifts.

Of the last 131, written before the guard saw one of them, it missed 11 that wipe something at the first look.
"""

from pathlib import Path

import pytest
from guard_places import GUARDED, HOME, ROOT, blocked, corpus, judged


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", HOME)


def never(command: str) -> bool:
    """Whether a command is refused in every mode, by one of the two that say so."""
    protected = [Path(path) for path in GUARDED]
    return bool(blocked(command, ROOT, protected)) or judged(command).outcome == "deny"


def test_whatever_program_carries_it_the_worst_is_never_done() -> None:
    spellings = corpus("carried/never.txt")
    assert len(spellings) > 350
    assert [command for command in spellings if not never(command)] == []


@pytest.mark.parametrize(
    "command",
    [
        "python3 -c 'print(\"rm -rf /\")'",
        "git commit -m 'never run rm -rf ~'",
        "grep -rn 'rm -rf /' docs",
        "echo 'rm -rf ~'",
        "docker run x rm -rf /",
        "./tool.py --message 'rm -rf / is bad'",
        "pytest -k 'rm and rf'",
        "gh issue create --title 'rm -rf / is not blocked'",
        "alias ll='ls -l'; ll",
    ],
)
def test_words_that_are_only_said_are_not_refused(command: str) -> None:
    assert not never(command)


def test_an_option_that_decides_what_a_tool_runs_is_asked_about() -> None:
    options = corpus("allowed/decides-what-runs.txt")
    assert len(options) > 250
    assert [command for command in options if judged(command).outcome == "allow"] == []
