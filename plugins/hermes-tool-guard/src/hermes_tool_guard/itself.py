"""Commands that run this program itself, to do what only a person may do with it."""

import re
from collections.abc import Sequence
from itertools import pairwise

from hermes_core.types import Protected

__all__ = ["is_for_a_person", "runs_itself"]

_RUNNERS = re.compile(r"((python|pypy)[\d.]*|uv|uvx|pipx)$")


def is_for_a_person(words: Sequence[str], protected: Protected) -> bool:
    """Whether a command of a shell runs this program to do what only a person may do."""
    if not runs_itself(words, protected.program):
        return False
    rest = words[1:]
    # Where something else runs this program, its name stands among the words.
    starts = range(len(rest)) if _RUNNERS.match(words[0].rpartition("/")[2]) else range(min(1, len(rest)))
    return any(protected.reserved(rest[start:]) for start in starts)


def runs_itself(words: Sequence[str], program: str) -> bool:
    """Whether a command runs this program, by its name or as a module of Python."""
    first, *rest = words
    name = first.rpartition("/")[2]
    if not _RUNNERS.match(name):
        return name in ("hermes", program)
    named = {after for before, after in pairwise(rest) if before in ("-m", "run", "--from")} | set(rest[:1])
    named |= {word[2:] for word in rest if word.startswith("-m")}
    return not named.isdisjoint({"hermes", "hermes_core", program, program.replace("-", "_")})
