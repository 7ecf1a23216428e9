"""Finding and ending everything a command started.

A process group is not enough: a shell with job control makes new groups, and ``setsid`` makes a new session. So a
command's processes are known by group, by session, by descent, by the mark in their environment, which survives a
double fork, and by a limit that each command has to itself, which survives a clean environment too.
"""

import contextlib
import os
import signal
import sys
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from hermes_core.environment import LOCKS, MARK

Row = tuple[int, int, int, int]  # pid, parent, group, session


def limit_of(mark: str) -> int:
    """The most file locks of the command with a mark: hardly two have the same, and all have less than ``LOCKS``."""
    return LOCKS - 1 - zlib.crc32(mark.encode())


def members(leader: int, mark: str, *, buried: bool = False) -> set[int]:
    """The living processes that a command started, itself included.

    Its number is another's once it is ``buried`` and somebody bears it: nothing of its group and session lives then.
    """
    rows = list(_linux_rows() if sys.platform == "linux" else _ps_rows())
    if buried and any(pid == leader for pid, *_ in rows):
        leader = -1
    found = {pid for pid, _, group, session in rows if leader in (pid, group, session)}
    token, limit = f"{MARK}={mark}".encode(), str(limit_of(mark)).encode()
    found |= {pid for pid, *_ in rows if pid not in found and (token in _environment(pid) or limit in _limits(pid))}
    grown = True
    while grown:
        more = {pid for pid, parent, *_ in rows if parent in found} - found
        found |= more
        grown = bool(more)
    return found - {os.getpid()}


def send(pids: Iterable[int], number: signal.Signals) -> None:
    """Signal processes; those that are gone by now are fine."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def _linux_rows() -> Iterator[Row]:
    for name in os.listdir("/proc"):  # noqa: PTH208 - strings, no paths: this is read under pressure
        if not name.isdigit():
            continue
        with contextlib.suppress(OSError, ValueError):
            text = Path("/proc", name, "stat").read_bytes()
            state, parent, group, session = text[text.rindex(b")") + 2 :].split()[:4]
            if state not in (b"Z", b"X"):
                yield int(name), int(parent), int(group), int(session)


def _environment(pid: int) -> tuple[bytes, ...]:
    try:
        return tuple(Path("/proc", str(pid), "environ").read_bytes().split(b"\0"))
    except OSError:
        return ()


def _limits(pid: int) -> list[bytes]:
    """What it may have of file locks: softly, hardly."""
    try:
        return Path("/proc", str(pid), "limits").read_bytes().partition(b"Max file locks")[2].split()[:2]
    except OSError:
        return []


def _ps_rows() -> Iterator[Row]:
    import subprocess

    # macOS has no session column worth the name; group and descent have to do there.
    listing = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,pgid=,stat="], capture_output=True, check=False).stdout
    for line in listing.splitlines():
        pid, parent, group, state = line.split()[:4]
        if not state.startswith(b"Z"):
            yield int(pid), int(parent), int(group), int(group)
