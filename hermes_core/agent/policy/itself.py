"""This program run by one of its own tools: what only a person may do with it, and how that is noticed."""

import os
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from hermes_core.environment import LOCKS, MARK
from hermes_core.errors import UserError
from hermes_core.records import KERNEL, Record, for_a_person

__all__ = ["only_by_a_person", "run_by_tool", "widens"]


def widens(words: Sequence[str], records: Iterable[Record] = KERNEL) -> bool:
    """Tell whether the words behind the program's name change what it may do, or answer for a person."""
    return "--yolo" in words or "--trust" in words or for_a_person(words, records)


def only_by_a_person(program: str, kept: bool = True) -> None:
    """Leave to people what is ``kept`` for them. Raises UserError where a tool of this program runs it."""
    if kept and run_by_tool():
        text = (
            f"This was started by a tool of {program}, and may not change what {program} may do or answer for a person."
        )
        raise UserError(text, hint="Run it yourself, in a terminal of your own.")


def run_by_tool() -> bool:
    """Tell whether a tool of this program started this process, or one above it.

    Told by the mark; by the limit, which is there also where nothing of the environment is; by the processes above.
    """
    import resource

    linux = sys.platform == "linux"
    if MARK in os.environ or (linux and 0 <= resource.getrlimit(10)[1] <= LOCKS):  # RLIMIT_LOCKS has no name here
        return True
    pid, mark = os.getppid(), f"{MARK}=".encode()
    while pid > 1:
        place = Path(f"/proc/{pid}")
        try:
            above = int(place.joinpath("stat").read_bytes().rpartition(b")")[2].split()[1])
        except (OSError, ValueError, IndexError):  # another system: nothing can be said
            return False
        with suppress(OSError):  # another user's process, as sudo is: those above it may still tell
            if any(one.startswith(mark) for one in place.joinpath("environ").read_bytes().split(b"\0")):
                return True
        pid = above
    return False
