"""What people do every day is let through; what does harm is asked about; the worst is never run.

The first corpora were written with the guard. The second (everyday-2, …) were written afterwards by hand, whole,
before the guard saw one of their commands, and the third again after it was mended for the second. Of the first look
came, and of the fourth and the fifth, which another author wrote in the same way:

=======  =======================  ==========================  =====================
corpus   everyday: asked          hostile: allowed            worst: not denied
=======  =======================  ==========================  =====================
second   34 of 390 (8.7 %)        16 of 415 (3.9 %)           53 of 244 (21.7 %)
third    14 of 268 (5.2 %)        5 of 218 (2.3 %)            7 of 155 (4.5 %)
fourth   51 of 551 (9.3 %)        9 of 307 (2.9 %)            18 of 213 (8.5 %)
fifth    9 of 262 (3.4 %)         6 of 195 (3.1 %)            7 of 178 (3.9 %)
=======  =======================  ==========================  =====================

So of commands that nobody here has thought of, expect about one in thirty to be asked about needlessly. Fifteen
commands that the first look allowed were no danger on a second thought, and left the hostile corpora: ``id`` behind a
disguise, ``fdisk -l``, what writes to a file of the folder.
"""

import random

import pytest
from guard_places import GUARDED, HOME, PROTECTED, ROOT, corpus, judged

from hermes_tool_guard import memory
from hermes_tool_guard.guard import check
from hermes_tool_guard.judgement import Judgement

MOST_ASKED = 0.02  # of everyday commands
SOME_ASKED = 0.03  # of those of one corpus
EVERYDAY = tuple(f"everyday{n}.txt" for n in ("", "-2", "-3", "-4", "-5"))
HOSTILE = tuple(f"hostile{n}.txt" for n in ("", "-2", "-3", "-4", "-5"))
NEVER = tuple(f"never{n}.txt" for n in ("", "-2", "-3", "-4", "-5"))


def asked_of(name: str) -> dict[str, str]:
    return {c: judged(c).reason for c in corpus(name) if judged(c).outcome != "allow"}


@pytest.mark.parametrize("name", EVERYDAY)
def test_everyday_commands_are_rarely_asked_about(name: str) -> None:
    asked = asked_of(name)
    assert len(asked) <= SOME_ASKED * len(corpus(name)), asked
    assert [c for c in asked if judged(c).outcome == "deny"] == []


def test_of_all_everyday_commands_hardly_any_is_asked_about() -> None:
    asked = {c: why for name in EVERYDAY for c, why in asked_of(name).items()}
    assert len(asked) <= MOST_ASKED * sum(len(corpus(name)) for name in EVERYDAY), asked


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_commands_are_all_asked_about_or_denied(name: str) -> None:
    assert [c for c in corpus(name) if judged(c).outcome == "allow"] == []


@pytest.mark.parametrize("name", NEVER)
def test_the_worst_is_denied_in_every_spelling(name: str) -> None:
    assert [c for c in corpus(name) if judged(c).outcome != "deny"] == (
        ["rm -rf `pwd | cut -c1`"] if name == "never-2.txt" else []  # asked about: what cut prints is not followed
    )


def test_the_corpora_are_as_large_as_promised() -> None:
    assert len({c for name in EVERYDAY for c in corpus(name)}) >= 1700
    assert len({c for name in (*HOSTILE, *NEVER) for c in corpus(name)}) >= 2400
    assert GUARDED


@pytest.mark.parametrize("name", [*EVERYDAY, *HOSTILE, *NEVER])
@pytest.mark.few(5)
def test_every_verdict_says_why_in_one_line(name: str) -> None:
    for command in corpus(name):
        reason = judged(command).reason
        assert reason.strip(), command
        assert "\n" not in reason, command
        assert len(reason) < 250, command


def anew(command: str) -> Judgement:
    memory.memory_of.cache_clear()
    return check(command, root=ROOT, home=HOME, guarded=GUARDED, protected=PROTECTED)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.few(3)
def test_what_is_remembered_of_statements_changes_no_verdict(seed: int) -> None:
    """Commands in a row, in any order: known ones are judged as if they were seen for the first time."""
    chance = random.Random(seed)
    lines = [c for name in (*EVERYDAY, *HOSTILE, *NEVER) for c in corpus(name) if "\n" not in c and c[-1] not in "&\\"]
    for _ in range(40):
        row = "; ".join(chance.sample(lines, 5))
        for line in row.split("; "):
            judged(line)  # so that all of them are known
        warm, again = judged(row), judged(row)
        assert warm == again == anew(row), row
