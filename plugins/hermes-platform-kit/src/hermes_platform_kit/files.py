"""Files that came in with messages, on this machine.

Strangers' files are fetched too, before anybody decides whether they may talk: so all files together have a bound.
"""

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

__all__ = ["FileCache"]

_DAY = 86_400.0
_OFTEN = 3_600.0  # seconds after which what is old is looked for again


class FileCache:
    """Keeps files below a folder: each whole or not there, for this account alone, and all within a bound.

    Names are relative paths that a plugin makes; none is ever what a sender calls a file, unless it was made safe.
    """

    def __init__(self, folder: Path, *, most: int, days: float = 0.0) -> None:
        """Begin; nothing is touched yet.

        Args:
            folder: Where they lie.
            most: Bytes of all files together.
            days: For how long one is kept that nobody asks for; 0 for as long as there is room.
        """
        self._folder, self._most, self._days = folder, most, days
        self._used, self._looked = 0, 0.0

    def find(self, name: str) -> Path | None:
        """Return where a file lies, which counts as asking for it; None when it is not there."""
        place = self._folder / name
        if not place.is_file():
            return None
        with suppress(OSError):
            os.utime(place)
        return place

    @contextmanager
    def writing(self, name: str) -> Iterator[IO[bytes]]:
        """Give a file to write to, which lies under its name once this ends well. Raises OSError."""
        place = self._folder / name
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor, beside = tempfile.mkstemp(dir=place.parent, prefix=".")
        try:
            with open(descriptor, "wb") as file:  # noqa: PTH123 - mkstemp gave no path alone
                yield file
            Path(beside).replace(place)
        except BaseException:
            Path(beside).unlink(missing_ok=True)
            raise
        self._used += place.stat().st_size
        if self._used > self._most or time.time() - self._looked > _OFTEN:
            self.forget()

    def forget(self) -> None:
        """Delete what nobody asked for since ``days``, and the oldest of what is too much; never the newest."""
        self._looked, self._used = time.time(), 0
        old = self._looked - self._days * _DAY if self._days else 0.0
        for changed, size, file in sorted(self._listed(), reverse=True):
            if changed < old or (self._used and self._used + size > self._most):
                file.unlink(missing_ok=True)
            else:
                self._used += size

    def _listed(self) -> Iterator[tuple[float, int, Path]]:
        for file in self._folder.rglob("*"):
            with suppress(OSError):
                if file.is_file():
                    status = file.stat()
                    yield status.st_mtime, status.st_size, file
