"""What stood before the commands that run now, on disk: for a Hermes that is killed, and for all that run beside it.

Commands of several sessions may work in one folder, or one's folder may lie in another's: in one process or in many,
it is all the same. Who begins while others run takes over what stood before theirs, as what they changed meanwhile is
not put back yet. So one begins at a time, and each writes down what stood before it starts anything.
"""

# ruff: noqa: PTH123 - once and more for each command

import base64
import fcntl
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import IO, Any
from uuid import uuid4

from hermes_backend_wall.beneath import State
from hermes_backend_wall.plan import RUNNING
from hermes_backend_wall.system import inside
from hermes_core.values import frozen

__all__ = ["LAG", "Baseline", "Remembered"]

LAG = 20_000_000  # nanoseconds that clocks of file systems lag behind
_RESTING = ".resting-"
_DRAFT = ".draft-"
_VOUCHED = ".written-"
_PATIENCE = 10.0  # seconds for another that begins right now
_YOUNG = 60.0  # seconds: a draft may be one that is being written


@frozen
class Baseline:
    """What stood in a folder before some commands began; ``files`` by path in it. Times are in nanoseconds.

    ``since`` is when the first command did that ran before folders were looked at which no look had reached.
    """

    folder: str
    began: int
    since: int
    known: Mapping[str, Any]
    files: Mapping[str, State]


class Remembered:
    """One file, ``home`` with an ending, out of the reach of commands; it is locked as long as this Hermes lives."""

    def __init__(self, home: str, folder: str) -> None:
        self._stem, self._name, self._folder = home, uuid4().hex[:12], folder
        self._root = os.path.dirname(home)  # noqa: PTH120
        self._last: tuple[dict[str, State], dict[str, Any]] | None = None
        self._fd = -1
        self._runs = False
        self._read: dict[str, tuple[tuple[int, ...], Baseline | None]] = {}  # what others wrote, by path
        self._listed: list[str] | None = None  # what lay there when nobody else could begin any more

    @contextmanager
    def alone(self) -> Iterator[None]:
        """While nobody else begins. Raises OSError where another does not come to its end."""
        how = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        try:
            fd = os.open(f"{self._root}/.lock", how, 0o600)
        except FileNotFoundError:
            os.makedirs(self._root, mode=0o700, exist_ok=True)  # noqa: PTH103
            fd = os.open(f"{self._root}/.lock", how, 0o600)
        try:
            until = time.monotonic() + _PATIENCE
            while not _locked(fd):
                if time.monotonic() > until:
                    raise TimeoutError(f"Another Hermes has held {self._root}/.lock for {_PATIENCE:g} seconds")
                time.sleep(0.001)
            self._listed = self._entries()
            yield
        finally:
            self._listed = None
            os.close(fd)

    def keep(self, known: Mapping[str, Any], files: Mapping[str, State]) -> None:
        """Write it down, before a command starts. Raises OSError."""
        if self._fd >= 0 and (files, known) == self._last:
            if not self._runs:
                os.rename(self._path(_RESTING), self._path(RUNNING))  # noqa: PTH104
                self._runs = True
            return
        fd = self._drafted({**known, "files": _rows(files)}, RUNNING, self._name)
        self.forget(but=self._path(RUNNING))
        self._fd, self._last, self._runs = fd, (dict(files), dict(known)), True

    def _drafted(self, content: Mapping[str, Any], kind: str, name: str) -> int:
        """Write a file that is whole and locked from the moment it has its name; its descriptor. Raises OSError."""
        draft = f"{self._stem}{_DRAFT}{name}"
        data = f"{json.dumps(self._folder)}\n{json.dumps(content)}".encode(errors="surrogateescape")
        fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            with open(fd, "wb", closefd=False) as file:
                file.write(data)
            os.rename(draft, f"{self._stem}{kind}{name}")  # noqa: PTH104
        except OSError:
            os.close(fd)
            raise
        return fd

    def _path(self, kind: str) -> str:
        return f"{self._stem}{kind}{self._name}"

    def rest(self) -> None:
        """No command runs, and what they changed was looked at."""
        if self._runs:
            with suppress(OSError):
                os.rename(self._path(RUNNING), self._path(_RESTING))  # noqa: PTH104
            self._runs = False

    def forget(self, but: str = "") -> None:
        """Take it away."""
        for kind in (RUNNING, _RESTING):
            if self._path(kind) != but:
                with suppress(OSError):
                    os.unlink(self._path(kind))  # noqa: PTH108
        if self._fd >= 0:
            os.close(self._fd)
        self._fd, self._last, self._runs = -1, None, False

    def vouch(self, files: Mapping[str, State]) -> None:
        """Say to all whose commands run that Hermes itself wrote these. Raises OSError."""
        os.close(self._drafted({"files": _rows(files)}, _VOUCHED, uuid4().hex[:12]))

    def vouched(self) -> list[Baseline]:
        """What Hermes itself wrote while commands run, in this folder or around it."""
        return [one for path in self._paths(_VOUCHED) if (one := self._of(path))]

    def settle(self) -> None:
        """Nobody's commands run: what Hermes wrote meanwhile need not be told any more."""
        for path in self._paths(_VOUCHED):
            if self._of(path):
                with suppress(OSError):
                    os.unlink(path)  # noqa: PTH108

    def others(self) -> list[Baseline]:
        """What stood before the commands of others that run now, in this folder or around it."""
        paths = [path for path in self._paths(RUNNING) if path != self._path(RUNNING)]
        return [one for path in paths if (one := self._of(path, lives=True))]

    def lost(self) -> Iterator[Baseline]:
        """What stood before the commands of each Hermes that was killed; taken away once the caller went on."""
        for path in self._paths(RUNNING):
            with suppress(OSError), open(path, "rb") as file:
                if _is_dead(file):
                    one = self._of(path)
                    if one and _overlap(one.folder, self._folder):
                        yield one
                        os.unlink(path)  # noqa: PTH108
        for kind in (_RESTING, _DRAFT):
            for path in self._paths(kind):
                if path.startswith(f"{self._stem}.") and path != self._path(kind):
                    with suppress(OSError), open(path, "rb") as file:
                        young = kind == _DRAFT and time.time() - os.fstat(file.fileno()).st_mtime < _YOUNG
                        if not young and _is_dead(file):
                            os.unlink(path)  # noqa: PTH108

    def _paths(self, kind: str) -> list[str]:
        listed = self._entries() if self._listed is None else self._listed
        return [path for path in listed if kind in path.rpartition("/")[2]]

    def _entries(self) -> list[str]:
        with suppress(OSError), os.scandir(self._root) as entries:
            return sorted(entry.path for entry in entries)
        return []

    def _of(self, path: str, *, lives: bool = False) -> Baseline | None:
        """What a file says; None where it says nothing about this folder, or where nobody who ``lives`` wrote it."""
        with suppress(OSError, ValueError, KeyError), open(path, "rb") as file:
            status = os.fstat(file.fileno())
            if lives and _locked(file.fileno()):  # nobody has it, or another that has its name by now
                return None if os.fstat(file.fileno()).st_nlink else self._of(path, lives=True)
            mark = (status.st_ino, status.st_ctime_ns, status.st_size)
            if path not in self._read or self._read[path][0] != mark:
                folder = str(json.loads(file.readline()))
                there = _overlap(folder, self._folder)
                self._read[path] = (mark, _baseline(folder, file.read(), status) if there else None)
            return self._read[path][1]
        self._read.pop(path, None)
        return None


def _locked(fd: int) -> bool:
    """Lock a file; False where another has it. Raises OSError."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_dead(file: IO[bytes]) -> bool:
    """Whether who wrote it is gone, and it is the file that has the name; it is locked then."""
    return _locked(file.fileno()) and os.fstat(file.fileno()).st_nlink > 0


def _overlap(one: str, other: str) -> bool:
    return inside(one, other) or inside(other, one)


def _baseline(folder: str, content: bytes, status: os.stat_result) -> Baseline:
    known = json.loads(content)
    files = {path: _state(*row) for path, row in known.pop("files").items()}
    # Where nothing is said, it was made or renamed as the first of the commands began.
    began = int(known.get("began", 0)) or status.st_ctime_ns - LAG
    return Baseline(folder, began, int(known.get("since", 0)) or began, known, files)


def _rows(files: Mapping[str, State]) -> dict[str, list[object]]:
    return {path: [one.mode, None if one.data is None else _text(one.data)] for path, one in files.items()}


def _state(mode: int, text: str | None) -> State:
    return State((), mode, None if text is None else base64.b64decode(text))


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()
