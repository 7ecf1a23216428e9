"""The gateway's processes of one home: a locked file each, which the system lets go of however they end."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["here", "running"]


@contextmanager
def here(folder: Path) -> Iterator[None]:
    """This process is one of them, in this block. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / f"{os.getpid()}.lock"
    with path.open("w", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def running(folder: Path) -> list[int]:
    """The ids of those that live; what dead ones left is removed."""
    found = []
    for path in sorted(folder.glob("*.lock")) if folder.is_dir() else []:
        with suppress(OSError, ValueError), path.open("r+", encoding="ascii") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                found.append(int(path.stem))
            else:
                path.unlink(missing_ok=True)
    return found
