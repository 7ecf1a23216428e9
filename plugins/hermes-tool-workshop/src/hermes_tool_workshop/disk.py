"""Files that are there whole or not at all, and read only as the files they are."""

import fcntl
import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hermes_atomic.whole import replace, sync_folder

_LARGEST = 1_000_000  # bytes of one file
_PLAIN = re.compile(r"[a-z0-9][a-z0-9_-]{0,79}")


def folder_name(profile: str, person: str) -> str:
    """A folder's name for any owner; ``~`` keeps digests apart from names that are used as they are."""
    if _PLAIN.fullmatch(profile) and _PLAIN.fullmatch(person):
        return f"{profile}.{person}"
    digest = hashlib.sha256(f"{profile}\0{person}".encode("utf-8", "surrogatepass")).hexdigest()
    return f"~{digest[:40]}"


def read_plain(path: Path) -> bytes:
    """The bytes of a plain file, never through a link. Raises OSError."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    with os.fdopen(handle, "rb") as file:
        data = file.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise OSError(f"{path} is too large")
    return data


def write_whole(path: Path, data: bytes) -> None:
    """Replace a file, for good once this returns. Raises OSError."""
    replace(path, data)
    sync_folder(path.parent)


def write_folder(place: Path, files: dict[str, bytes]) -> None:
    """Make a folder with files in it, all of it or none; what had its name goes. Raises OSError."""
    from tempfile import mkdtemp

    made = Path(mkdtemp(prefix=".new-", dir=place.parent))
    for name, data in files.items():
        with (made / name).open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        (made / name).chmod(0o600)
    sync_folder(made)
    if place.is_symlink() or place.exists():  # left by a write that never came to its end: nobody said yes to it
        place.rename(made.with_name(f"{made.name}.old"))
    made.rename(place)
    sync_folder(place.parent)


def sweep(folder: Path) -> None:
    """Remove what writes that never came to their end have left."""
    for left in (*folder.glob(".new-*"), *folder.glob(".*.new")):
        if left.is_dir() and not left.is_symlink():
            import shutil

            shutil.rmtree(left, ignore_errors=True)
        else:
            left.unlink(missing_ok=True)


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Nobody else, in this process or another, changes what is in the folder meanwhile. Raises OSError."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
