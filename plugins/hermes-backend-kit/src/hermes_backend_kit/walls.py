"""What walls around commands do not keep, in words: one table, so that every backend says the same by the same.

A wall that keeps all of it has nothing ``missing``. What it keeps otherwise is what ``probes`` try.
"""

import re

from hermes_core.patterns import pattern
from hermes_core.types import Wall

__all__ = [
    "CALLS",
    "EVERYTHING",
    "FILTER",
    "LASTING",
    "LOOSE",
    "LOOSE_BUT_GIT",
    "MOVES",
    "NETWORK",
    "NO_SKILLS",
    "REQUESTS",
    "SEEN",
    "SHARED_MEMORY",
    "SIGNALS",
    "SOCKETS",
    "TCP",
    "TERMINALS",
    "UNCOUNTED",
    "everything_on",
    "no_wall",
    "says",
]

EVERYTHING = "everything: commands can do what you can do"
_THERE = "everything on {}: commands can do what its user can do"
NETWORK = "the network: commands reach what this machine reaches, and its own services"
SOCKETS = "abstract sockets of your other programs can be reached"
LOOSE = "files of the folder that run by themselves stay as commands leave them"
LOOSE_BUT_GIT = "files of the folder that run by themselves, but for git's own at the top, stay as commands leave them"
CALLS = "system calls are not filtered: their numbers are not known on this machine"
FILTER = "the daemon chooses which system calls are filtered; an old one lets io_uring and vsock through"
MOVES = "files cannot be moved from one folder to another"
TCP = "TCP is closed by the filter of calls alone"
REQUESTS = "device files answer all their requests"
SIGNALS = "signals reach your other processes"
SEEN = "processes with their command lines, and files that are known by name, can be seen, not read"
SHARED_MEMORY = "shared memory of POSIX and System V is that of your other programs too"
UNCOUNTED = "memory and processes are not limited"
LASTING = "what a command leaves running outlives Hermes"
TERMINALS = "no pseudo-terminals"
NO_SKILLS = "scripts of skills, which lie on this machine, are not there"

_TABLE = frozenset(
    {
        *(EVERYTHING, NETWORK, SOCKETS, LOOSE, LOOSE_BUT_GIT, CALLS, FILTER, MOVES, TCP, REQUESTS),
        *(SIGNALS, SEEN, SHARED_MEMORY, TERMINALS, UNCOUNTED, LASTING, NO_SKILLS),
    }
)
_ELSEWHERE = pattern(re.escape(_THERE).replace(r"\{\}", r"\S+"))


def everything_on(host: str) -> str:
    """What is missing where commands run on another machine as a user of it."""
    return _THERE.format(host)


def no_wall(host: str = "") -> Wall:
    """What is around commands that nothing bounds, on this machine or on another one."""
    return Wall(name="none", missing=(everything_on(host), NO_SKILLS) if host else (EVERYTHING,))


def says(text: str) -> bool:
    """Whether a text is one of these."""
    return text in _TABLE or _ELSEWHERE.fullmatch(text) is not None
