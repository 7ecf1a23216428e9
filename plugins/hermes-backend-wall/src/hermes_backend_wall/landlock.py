"""The wall without privilege or helper: the launcher restricts itself by Landlock and seccomp before it serves.

What is not listed is closed: Landlock knows allow lists only. It grants whole trees, so what must not be changed inside
the workspace is compared after each command instead (``protected``).
"""

import base64
import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from hermes_backend_kit.walls import MOVES, REQUESTS, SEEN, SHARED_MEMORY, SIGNALS, TCP, TERMINALS
from hermes_backend_wall import seccomp
from hermes_backend_wall.bounds import Bounds
from hermes_backend_wall.bwrap import Problem
from hermes_backend_wall.limits import Limits
from hermes_backend_wall.system import DEVICES, ETC, ETC_SHARED, KNOWLEDGE, OPTIONAL, STORES, SYSTEM
from hermes_core.errors import UserError

__all__ = ["Landlock", "missing", "version"]

# What each version of the interface brought, and what is open before it.
_BEFORE = ((2, MOVES), (4, TCP), (5, REQUESTS), (6, SIGNALS))
_ALWAYS = (SEEN, SHARED_MEMORY, TERMINALS)


@lru_cache(maxsize=1)
def version() -> int:
    """The version of Landlock's interface that can be used here; 0 where there is none, or no filter of calls."""
    if not hasattr(os, "pidfd_open") or not seccomp.program():
        return 0
    from hermes_backend_wall.inside import kernel  # ctypes is dear

    return kernel.abi()


def missing(known: int) -> tuple[str, ...]:
    """What this wall does not keep at a version of the interface, in words."""
    return (*(text for since, text in _BEFORE if known < since), *_ALWAYS)


class Landlock:
    """Starts the launcher as it is; it does the rest. Raises UserError when something must be hidden in the folder."""

    dies_hard = False

    def __init__(self, bounds: Bounds, limits: Limits) -> None:
        self.limits = limits
        self._bounds = bounds
        for path in bounds.hidden:
            for root in (bounds.source, *bounds.writable, *bounds.readable):
                if path == root or path.startswith(f"{root}/"):
                    raise UserError(
                        f"{path} belongs to Hermes and lies in {root}; Landlock cannot hide it from commands.",
                        hint="Choose another folder, move HERMES_HOME, or install bubblewrap.",
                    )

    @contextmanager
    def command(self, launcher: Sequence[str]) -> Iterator[tuple[Sequence[str], Sequence[int]]]:
        """The launcher itself."""
        yield launcher, ()

    def settings(self) -> Mapping[str, Any]:
        """The lists of paths, the filter, and what the supervisor answers."""
        bounds = self._bounds
        theirs = [one.path for one in bounds.also if one.writes]
        writable = (bounds.source, bounds.home, bounds.scratch, *bounds.writable, *theirs)
        shared = ("/dev/shm",) if bounds.shared_memory else ()  # noqa: S108
        read = ("/usr", *SYSTEM, *STORES, *OPTIONAL, *(f"/etc/{name}" for name in (*ETC, *ETC_SHARED)), *KNOWLEDGE)
        return {
            "landlock": {
                "paths": {
                    "read": [*read, *bounds.readable, *(one.path for one in bounds.also if not one.writes)],
                    "write": [*writable, *shared],
                    "device": DEVICES,
                },
                "exact": [one.path for one in bounds.also],
                "writable": writable,
                "filter": base64.b64encode(seccomp.program(landlock=version())).decode(),
                "calls": seccomp.supervised(platform.machine()),
            }
        }

    def explain(self, said: str) -> Problem:
        """What the launcher said last."""
        lines = [line for line in said.splitlines() if line.strip()]
        line = lines[-1].strip()[:300] if lines else "it gave no reason"
        return Problem(f"The wall could not be made: {line}", "hermes doctor --deep --plugin backend/local says more.")
