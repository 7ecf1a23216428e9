"""This program run by one of its own tools: what only a person may do with it, and how that is noticed."""

import os
import re
import sys
import sysconfig
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from hermes_core.environment import MARK
from hermes_core.patterns import pattern
from hermes_core.plugins.records import KERNEL, CommandRecord, for_a_person

__all__ = ["run_by_tool", "widens"]

_PYTHON = pattern(r"(python|pypy)[\d.]*$")


def widens(words: Sequence[str], records: Iterable[CommandRecord] = KERNEL) -> bool:
    """Whether the words behind the program's name change what it may do, or answer for a person."""
    return "--yolo" in words or for_a_person(words, records)


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
