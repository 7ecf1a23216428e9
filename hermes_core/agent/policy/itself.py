"""This program run by one of its own tools: what only a person may do with it, and how that is noticed."""

import os
import re
import sys
import sysconfig
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

from hermes_core.environment import MARK
from hermes_core.plugins.records import KERNEL, CommandRecord, for_a_person

__all__ = ["is_for_a_person", "run_by_tool", "runs_itself", "widens"]

_PYTHON = re.compile(r"(python|pypy)[\d.]*$")
_RUNNERS = re.compile(r"((python|pypy)[\d.]*|uv|uvx|pipx)$")


def widens(words: Sequence[str], records: Iterable[CommandRecord] = KERNEL) -> bool:
    """Whether the words behind the program's name change what it may do, or answer for a person."""
    return "--yolo" in words or for_a_person(words, records)


def is_for_a_person(words: Sequence[str], brand: str, records: Iterable[CommandRecord]) -> bool:
    """Whether a command of a shell runs this program to do what only a person may do."""
    if not runs_itself(words, brand):
        return False
    known, rest = tuple(records), words[1:]
    # Where something else runs this program, its name stands among the words.
    starts = range(len(rest)) if _RUNNERS.match(words[0].rpartition("/")[2]) else range(min(1, len(rest)))
    return any(widens(rest[start:], known) for start in starts)


def runs_itself(words: Sequence[str], brand: str) -> bool:
    """Whether a command runs this program, by its name or as a module of Python."""
    program, *rest = words
    name = program.rpartition("/")[2]
    if not _RUNNERS.match(name):
        return name in ("hermes", brand)
    named = {after for before, after in pairwise(rest) if before in ("-m", "run", "--from")} | set(rest[:1])
    named |= {word[2:] for word in rest if word.startswith("-m")}
    return not named.isdisjoint({"hermes", "hermes_core", brand, brand.replace("-", "_")})


def _is_itself(words: Sequence[str], folder: str, brand: str) -> bool:
    """Whether these are the words of a Python process that runs our script or our module; no other word tells."""
    if not _PYTHON.match(words[0].rpartition("/")[2]):
        return False
    names, rest = ("hermes", brand), iter(words[1:])
    for word in rest:
        if word in ("-X", "-W"):
            next(rest, None)
        elif module := re.match(r"-[A-Za-z]*?m(.*)", word):
            name = module[1] or next(rest, "")
            return name.partition(".")[0] in ("hermes_core", *(one.replace("-", "_") for one in names))
        elif not word.startswith("-"):
            installed = [Path(sysconfig.get_path("scripts"), name) for name in names]
            installed += [Path(sys.argv[0])] if Path(sys.argv[0]).name in names else []
            return Path(folder, word).resolve() in [path.resolve() for path in installed]
    return False


def run_by_tool(brand: str = "hermes") -> bool:
    """Whether a tool of this program started this process, or one above it.

    The mark may have been taken out of the environment; the processes above tell too.
    """
    if MARK in os.environ:
        return True
    pid, mark = os.getppid(), f"{MARK}=".encode()
    while pid > 1:
        place = Path(f"/proc/{pid}")
        try:
            words = place.joinpath("cmdline").read_bytes().decode("utf-8", "replace").split("\0")
            above = int(place.joinpath("stat").read_bytes().rpartition(b")")[2].split()[1])
        except (OSError, ValueError, IndexError):  # another system: nothing can be said
            return False
        with suppress(OSError):  # another user's process, as sudo is: those above it may still tell
            marked = any(one.startswith(mark) for one in place.joinpath("environ").read_bytes().split(b"\0"))
            if marked or _is_itself(words, os.readlink(place / "cwd"), brand):  # noqa: PTH115
                return True
        pid = above
    return False
