"""How the launcher is put into a sandbox of its own."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hermes_backend_bubblewrap.config import Config
from hermes_backend_bubblewrap.view import View
from hermes_backend_kit.walls import CALLS, LOOSE, LOOSE_BUT_GIT, NETWORK, SOCKETS
from hermes_backend_wall import bwrap, landlock, seccomp
from hermes_backend_wall.bwrap import Problem
from hermes_backend_wall.limits import Limits
from hermes_backend_wall.words import Words
from hermes_core.types import Folder, Wall

SCOPES_SINCE = 6  # the version of Landlock that closes abstract sockets
DOCTOR = "hermes doctor --deep --plugin backend/bubblewrap says more."


class Strict:
    """Shows the session's folder and the system. ``environment`` is what commands begin with, once it was run."""

    dies_hard = True

    def __init__(
        self,
        folder: str,
        source: str,
        config: Config,
        hidden: Sequence[Path],
        offered: Sequence[Path] = (),
        also: Sequence[Folder] = (),
    ) -> None:
        self._place = (folder, source, config, hidden, offered, also)
        self._config = config
        self.limits = limits_of(config)
        self.environment: Mapping[str, str] = {}

    @contextmanager
    def command(self, launcher: Sequence[str]) -> Iterator[tuple[Sequence[str], Sequence[int]]]:
        """The launcher as process 1 of the sandbox. Raises UserError."""
        path = bwrap.program()
        with Words() as words:
            view = View(words, *self._place)
            view.build()
            self.environment = view.environment(os.environ)
            if program := seccomp.program():
                words.add("--seccomp", str(words.memory("filter", program)))
            yield [path, *words.words, "--", *launcher], words.fds

    def settings(self) -> Mapping[str, Any]:
        """Where the network is the machine's, its abstract sockets and processes are closed otherwise."""
        return {"scope": self._config.network}

    def explain(self, said: str) -> Problem:
        """What bwrap said, in our words."""
        return bwrap.explain(bwrap.program(), said, DOCTOR)


def wall_of(config: Config) -> Wall:
    """What a sandbox does not keep, in words."""
    missing = [] if seccomp.program() else [CALLS]
    if config.network:
        missing += [NETWORK] if landlock.version() >= SCOPES_SINCE else [NETWORK, SOCKETS]
    return Wall(name="bubblewrap", missing=(*missing, LOOSE if config.git == "writable" else LOOSE_BUT_GIT))


def limits_of(config: Config) -> Limits:
    """The bounds that are set."""
    return Limits(
        memory_mb=config.memory_mb,
        processes=config.processes,
        file_mb=config.file_mb,
        open_files=config.open_files,
    )
