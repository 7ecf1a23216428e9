"""What stood before the commands that run now, on disk: for a Hermes that is killed while they run."""

import base64
import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from hermes_backend_wall.beneath import State
from hermes_backend_wall.plan import RUNNING

__all__ = ["Remembered", "lost"]

_RESTING = ".resting-"


class Remembered:
    """One file beside the home of commands, out of their reach; it is locked as long as this Hermes lives."""

    def __init__(self, home: str) -> None:
        self._stem, self._name = home, uuid4().hex[:12]
        self._last: tuple[dict[str, State], dict[str, Any]] | None = None
        self._fd = -1
        self._runs = False

    def keep(self, known: Mapping[str, Any], files: Mapping[str, State]) -> None:
        """Write it down, before a command starts. Raises OSError."""
        if self._fd >= 0 and (files, known) == self._last:
            if not self._runs:
                os.rename(f"{self._stem}{_RESTING}{self._name}", f"{self._stem}{RUNNING}{self._name}")  # noqa: PTH104
                self._runs = True
            return
        rows = {path: [one.mode, None if one.data is None else _text(one.data)] for path, one in files.items()}
        content = json.dumps({**known, "files": rows}).encode(errors="surrogateescape")
        running = f"{self._stem}{RUNNING}{self._name}"
        draft = f"{self._stem}.draft-{self._name}"
        fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            with open(fd, "wb", closefd=False) as file:
                file.write(content)
            os.rename(draft, running)  # noqa: PTH104
        except OSError:
            os.close(fd)
            raise
        self.forget(but=running)
        self._fd, self._last, self._runs = fd, (dict(files), dict(known)), True

    def rest(self) -> None:
        """No command runs, and what they changed was looked at."""
        if self._runs:
            with suppress(OSError):
                os.rename(f"{self._stem}{RUNNING}{self._name}", f"{self._stem}{_RESTING}{self._name}")  # noqa: PTH104
            self._runs = False

    def forget(self, but: str = "") -> None:
        """Take it away."""
        for kind in (RUNNING, _RESTING):
            path = f"{self._stem}{kind}{self._name}"
            if path != but:
                with suppress(OSError):
                    os.unlink(path)  # noqa: PTH108
        if self._fd >= 0:
            os.close(self._fd)
        self._fd, self._last, self._runs = -1, None, False


def lost(home: str) -> Iterator[tuple[dict[str, Any], dict[str, State]]]:
    """What stood before the commands of each Hermes that was killed; taken away once the caller went on."""
    stem = Path(home)
    for kind in (RUNNING, _RESTING, ".draft-"):
        for path in sorted(stem.parent.glob(f"{stem.name}{kind}*")):
            with suppress(OSError, ValueError, KeyError), path.open("rb") as file:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:  # another Hermes lives and works there
                    continue
                if kind == RUNNING:
                    # Made or renamed as the first of the commands began.
                    known = {**json.loads(file.read()), "when": os.fstat(file.fileno()).st_ctime_ns}
                    yield known, {path: _state(*row) for path, row in known.pop("files").items()}
                path.unlink()


def _state(mode: int, text: str | None) -> State:
    return State((), mode, None if text is None else base64.b64decode(text))


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()
