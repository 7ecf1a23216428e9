"""What people do every day is let through; what does harm is asked about; the worst is never run."""

import hashlib

import pytest
from guard_places import GUARDED, corpus, judged

MOST_ASKED = 0.02  # of everyday commands


def held_out(command: str) -> bool:
    """A third of each corpus was written with the rest and looked at last."""
    return hashlib.sha256(command.encode()).digest()[0] % 3 == 0


@pytest.mark.parametrize("part", ["tuned on", "held out"])
def test_everyday_commands_are_rarely_asked_about(part: str) -> None:
    commands = [c for c in corpus("everyday.txt") if held_out(c) == (part == "held out")]
    asked = {c: judged(c).reason for c in commands if judged(c).outcome != "allow"}
    assert len(asked) <= MOST_ASKED * len(commands), asked
    assert [c for c in asked if judged(c).outcome == "deny"] == []


def test_hostile_commands_are_all_asked_about_or_denied() -> None:
    assert [c for c in corpus("hostile.txt") if judged(c).outcome == "allow"] == []


def test_the_worst_is_denied_in_every_spelling() -> None:
    assert [c for c in corpus("never.txt") if judged(c).outcome != "deny"] == []


def test_the_corpora_are_as_large_as_promised() -> None:
    assert len(set(corpus("everyday.txt"))) >= 300
    assert len({*corpus("hostile.txt"), *corpus("never.txt")}) >= 400
    assert GUARDED


def test_every_verdict_says_why_in_one_line() -> None:
    for command in (*corpus("everyday.txt"), *corpus("hostile.txt"), *corpus("never.txt")):
        reason = judged(command).reason
        assert reason.strip(), command
        assert "\n" not in reason, command
        assert len(reason) < 250, command
