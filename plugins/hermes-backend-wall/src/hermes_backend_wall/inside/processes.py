"""Which processes there are below one, and ending them all."""

# ruff: noqa: PTH123, PTH208 - pathlib costs more than the rest

from __future__ import annotations

import contextlib
import os
import signal
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Row", "below", "kill_all", "rows"]

_ROUNDS = 400
_PAUSE = 0.005  # seconds


class Row:
    """What ``/proc`` says of one that lives."""

    __slots__ = ("group", "parent", "session")

    def __init__(self, parent: int, group: int, session: int) -> None:
        self.parent, self.group, self.session = parent, group, session


def rows() -> dict[int, Row]:
    """The living processes that can be seen, by number."""
    found = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        with contextlib.suppress(OSError, ValueError), open(f"/proc/{name}/stat", "rb") as file:
            text = file.read()
            state, *numbers = text[text.rindex(b")") + 2 :].split()[:4]
            if state not in (b"Z", b"X"):
                found[int(name)] = Row(*map(int, numbers))
    return found


def below(top: int, known: Mapping[int, Row]) -> set[int]:
    """The descendants of a process."""
    children: dict[int, list[int]] = {}
    for pid, row in known.items():
        children.setdefault(row.parent, []).append(pid)
    found: set[int] = set()
    waiting = [top]
    while waiting:
        for pid in children.get(waiting.pop(), ()):
            if pid not in found:
                found.add(pid)
                waiting.append(pid)
    return found


def kill_all(top: int, *, at_once: bool) -> None:
    """End all that is below a process; ``at_once`` where a signal to everything reaches nothing else."""
    if at_once:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(-1, signal.SIGKILL)
        return
    for _ in range(_ROUNDS):  # what forks meanwhile is in the next round
        left = below(top, rows())
        if not left:
            return
        for pid in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(_PAUSE)
