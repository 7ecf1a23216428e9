"""Files that are there whole or not at all, and one process at a time."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["Busy", "held", "replace", "sync_folder"]


class Busy(Exception):
    """Somebody else holds it."""


def replace(path: Path, data: bytes, *, mode: int = 0o600, sync: bool = True, follow: bool = False) -> None:
    """Replace a file; whoever looks finds the old one or the new one. A link in its place goes.

    To ``follow`` it replaces what the link leads to. Without ``sync`` a power cut may lose what was written. What a
    process leaves that dies in the middle is beside it, with a dot before its name and ``.new`` behind. Raises OSError;
    the old file is then untouched.
    """
    target = Path(os.path.realpath(path)) if follow else path
    draft = target.with_name(f".{target.name[:60]}.{os.urandom(4).hex()}.new")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(handle, mode)
            if sync:
                os.fsync(handle)
        draft.replace(target)
    except BaseException:
        with suppress(OSError):
            draft.unlink()
        raise


def sync_folder(folder: Path) -> None:
    """Have the disk know what is in a folder. Raises OSError."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def held(path: Path, *, seconds: float) -> Iterator[None]:
    """Keep other processes, and other threads of this one, out until the block ends; the file is made for that.

    Raises Busy when somebody else has it for so long, and OSError.
    """
    import fcntl

    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        until = time.monotonic() + seconds
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > until:
                    raise Busy(str(path)) from None
                time.sleep(0.01)
        yield
    finally:
        os.close(handle)
