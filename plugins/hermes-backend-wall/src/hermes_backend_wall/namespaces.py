"""The wall of namespaces, made by bubblewrap, around the person's own tools: wider than a sandbox, and still a wall.

The commands' own home is mounted where the person's is, so that what names it by its path finds it too.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from hermes_backend_kit.walls import CALLS
from hermes_backend_wall import bwrap, seccomp
from hermes_backend_wall.bounds import Bounds
from hermes_backend_wall.bwrap import Problem
from hermes_backend_wall.limits import Limits
from hermes_backend_wall.protected import fixed
from hermes_backend_wall.system import ETC_SHARED, OPTIONAL
from hermes_backend_wall.words import Bind, Words, outermost

__all__ = ["Namespaces", "missing"]

HOSTNAME = "hermes"
_MADE = ("group", "hostname", "hosts", "mtab", "passwd", "resolv.conf")  # these are ours inside


def missing() -> tuple[str, ...]:
    """What this wall does not keep here, in words."""
    return () if seccomp.program() else (CALLS,)


class Namespaces:
    """Starts the launcher as process 1 of namespaces of its own."""

    dies_hard = True

    def __init__(self, bounds: Bounds, limits: Limits) -> None:
        self.limits = limits
        self._bounds = bounds

    @contextmanager
    def command(self, launcher: Sequence[str]) -> Iterator[tuple[Sequence[str], Sequence[int]]]:
        """The launcher inside. Raises UserError for what cannot be shown."""
        path = bwrap.program()
        with Words() as words:
            self._view(words)
            if program := seccomp.program():
                words.add("--seccomp", str(words.memory("filter", program)))
            yield [path, *words.words, "--", *launcher], words.fds

    def _view(self, words: Words) -> None:
        bounds = self._bounds
        words.namespaces(HOSTNAME)
        words.system()
        words.etc(bounds.person, HOSTNAME)
        for name in ETC_SHARED:
            if name not in _MADE:
                words.add("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")
        words.devices()
        words.add("--perms", "1777", "--tmpfs", "/dev/shm")  # noqa: S108 - inside
        for path in OPTIONAL:
            words.add("--ro-bind-try", path, path)
        binds = [
            Bind("/tmp", bounds.scratch, writable=True),  # noqa: S108 - inside
            Bind("/var/tmp", bounds.scratch, writable=True),  # noqa: S108 - inside
            Bind(bounds.person, bounds.home, writable=True),
            *(Bind(path, os.path.realpath(path), writable=False) for path in bounds.readable),
            *(Bind(path, os.path.realpath(path), writable=True) for path in bounds.writable),
            *(Bind(one.path, one.path, writable=one.writes) for one in bounds.also),
            Bind(bounds.folder, bounds.source, writable=True),
        ]
        words.everything(binds)
        for path in bounds.fixed:
            words.bind(Bind(bounds.folder + path[len(bounds.source) :], path, writable=False))
        for path in (path for one in bounds.also if one.writes for path in fixed(one.path)):
            words.bind(Bind(path, path, writable=False))
        words.hide(outermost(bounds.hidden), binds)
        words.add("--remount-ro", "/dev", "--remount-ro", "/")

    def settings(self) -> Mapping[str, Any]:
        """The network is the sandbox's own, and so are its sockets and processes."""
        return {"scope": False}

    def explain(self, said: str) -> Problem:
        """What bwrap said, in our words."""
        return bwrap.explain(bwrap.program(), said, "hermes doctor --deep --plugin backend/local says more.")
