"""This program run by one of its own tools: what only a person may do with it, and how that is noticed."""

import os
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

__all__ = ["run_by_tool", "runs_itself", "widens"]

_MARK = b"HERMES_RUN="  # what backends put into the environment of the commands they run
# Commands that change what may be done, or answer for a person; those that only look are not among them.
_WIDENERS = {
    "approvals": {"allow", "deny"},
    "config": {"edit", "set", "unset"},
    "grants": {"forget"},
    "model": {"choose"},
    "plugins": {"disable", "enable", "install", "remove", "sync"},
    "profile": {"create", "delete", "use"},
    "setup": {""},
    "tools": {"disable", "enable"},
}
_RUNNERS = re.compile(r"^(python|pypy)[\d.]*$|^(uv|uvx|pipx)$")


def widens(words: Sequence[str]) -> bool:
    """Whether the words behind the program's name change what it may do, or answer for a person."""
    given = [*words, ""]
    return "--yolo" in words or any(two in _WIDENERS.get(one, ()) for one, two in pairwise(given))


def runs_itself(words: Sequence[str], brand: str) -> bool:
    """Whether a command runs this program, by its name or as a module of Python."""
    program, *rest = words
    name = program.rpartition("/")[2]
    if not _RUNNERS.match(name):
        return name in ("hermes", brand)
    named = {after for before, after in pairwise(rest) if before in ("-m", "run", "--from")} | set(rest[:1])
    named |= {word[2:] for word in rest if word.startswith("-m")}
    return not named.isdisjoint({"hermes", "hermes_core", "hermes_core.child", brand, brand.replace("-", "_")})


def _is_itself(words: Sequence[str], brand: str) -> bool:
    """Whether these are the words of a running program of ours: the script itself, or Python with it."""
    return runs_itself(words, brand) or any(Path(word).name in ("hermes", brand) for word in words[1:3])


def run_by_tool(brand: str = "hermes") -> bool:
    """Whether a tool of this program started this process, or one above it.

    The mark may have been taken out of the environment; the processes above tell too.
    """
    if "HERMES_RUN" in os.environ:
        return True
    pid = os.getppid()
    while pid > 1:
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace").split("\0")
            if _MARK in Path(f"/proc/{pid}/environ").read_bytes() or _is_itself(words, brand):
                return True
            pid = int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[1])
        except (OSError, ValueError, IndexError):  # another system, or another user's process: nothing can be said
            return False
    return False
