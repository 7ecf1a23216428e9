"""Files below a folder that commands can change while Hermes works on them: no link is ever followed there.

Hermes may touch what commands may not. So each folder on the way is opened from the one above it, and what a command
puts in the place of one of them makes the work fail instead of leading it elsewhere.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from hermes_core.values import frozen

__all__ = ["State", "folder", "make", "mark", "read", "remove", "state", "take", "write"]

_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_LARGEST = 4_000_000  # bytes of a file that is kept to be put back
_FRESH = 20_000_000  # nanoseconds: clocks of file systems are coarse, so two changes may bear one time


@frozen
class State:
    """What stands at a path: ``mark`` changes whenever it does; ``data`` are a file's bytes or a link's target."""

    mark: tuple[int, ...]
    mode: int
    data: bytes | None

    def same(self, other: "State") -> bool:
        """Whether another has the same content and mode."""
        return self.data is not None and (self.mode, self.data) == (other.mode, other.data)


@contextmanager
def folder(root: str, inner: str, *, made: bool = False) -> Iterator[int]:
    """A descriptor of a folder below ``root``, made where it is missing and that is wanted. Raises OSError."""
    fd = os.open(root, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in inner.split("/") if inner else ():
            if made:
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=fd)
            below = os.open(part, _FOLDER, dir_fd=fd)
            os.close(fd)
            fd = below
        yield fd
    finally:
        os.close(fd)


def make(root: str, inner: str) -> None:
    """Make a folder, with those above it. Raises OSError."""
    with folder(root, inner, made=True):
        pass


def read(root: str, inner: str, most: int = _LARGEST) -> bytes:
    """The bytes of a regular file, of no more than ``most`` bytes. Raises OSError."""
    above, _, name = inner.rpartition("/")
    with folder(root, above) as place:
        found = _read(place, name, most)
    if found is None:
        raise OSError(f"{inner} is no plain file, or too large")
    return found


def _read(place: int, name: str, most: int) -> bytes | None:
    # O_NONBLOCK: a FIFO in its place must not hold us up.
    fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC, dir_fd=place)
    with os.fdopen(fd, "rb") as file:
        status = os.fstat(fd)
        return file.read(most + 1)[:most] if stat.S_ISREG(status.st_mode) and status.st_size <= most else None


def mark(status: os.stat_result) -> tuple[int, ...]:
    """What of a file's status changes whenever the file does, but for one that somebody has mapped into memory."""
    return (status.st_dev, status.st_ino, status.st_ctime_ns, status.st_size, status.st_mode)


def state(root: str, inner: str, *, now: int = 0) -> State | None:
    """What stands there; None for nothing and for a folder.

    ``now`` is the time in nanoseconds: what changed right before it may change again and bear the same time, so its
    mark is one that no later one equals.
    """
    above, _, name = inner.rpartition("/")
    with suppress(OSError), folder(root, above) as place:
        return _state(place, name, now=now)
    return None


def _state(place: int, name: str, *, now: int) -> State | None:
    status = os.stat(name, dir_fd=place, follow_symlinks=False)
    fresh = now and now - max(status.st_ctime_ns, status.st_mtime_ns) < _FRESH
    known = (*mark(status), *((now,) if fresh else ()))
    if stat.S_ISLNK(status.st_mode):
        return State(known, status.st_mode, os.fsencode(os.readlink(name, dir_fd=place)))
    if not stat.S_ISREG(status.st_mode):
        return None if stat.S_ISDIR(status.st_mode) else State(known, status.st_mode, None)
    return State(known, status.st_mode, _read(place, name, _LARGEST) if status.st_size <= _LARGEST else None)


def take(root: str, inner: str, target: str) -> None:
    """Move what stands there, a link as a link, to a path of our own. Raises OSError."""
    above, _, name = inner.rpartition("/")
    with folder(root, above) as place:
        try:
            os.rename(name, target, src_dir_fd=place)
            return
        except OSError as error:
            if error.errno != 18:  # EXDEV: the homes of commands lie on another disk
                raise
        status = os.stat(name, dir_fd=place, follow_symlinks=False)
        if stat.S_ISDIR(status.st_mode):
            _copy(place, name, target)
        elif stat.S_ISLNK(status.st_mode):
            os.symlink(os.readlink(name, dir_fd=place), target)  # noqa: PTH211
        elif data := _read(place, name, 1 << 32):
            with open(target, "xb") as file:  # noqa: PTH123
                file.write(data)
        _remove(place, name)


def _copy(place: int, name: str, target: str) -> None:
    """A folder with the plain files and links in it."""
    os.mkdir(target, 0o700)  # noqa: PTH102
    fd = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=place)
    try:
        for entry in os.listdir(fd):  # noqa: PTH208 - of a descriptor
            status = os.stat(entry, dir_fd=fd, follow_symlinks=False)
            if stat.S_ISDIR(status.st_mode):
                _copy(fd, entry, f"{target}/{entry}")
            elif stat.S_ISLNK(status.st_mode):
                os.symlink(os.readlink(entry, dir_fd=fd), f"{target}/{entry}")  # noqa: PTH211
            elif (data := _read(fd, entry, 1 << 32)) is not None:
                with open(f"{target}/{entry}", "xb") as file:  # noqa: PTH123
                    file.write(data)
    finally:
        os.close(fd)


def _remove(place: int, name: str) -> None:
    if stat.S_ISDIR(os.stat(name, dir_fd=place, follow_symlinks=False).st_mode):
        import shutil

        shutil.rmtree(name, dir_fd=place)
    else:
        os.unlink(name, dir_fd=place)


def remove(root: str, inner: str) -> None:
    """Take away what stands there, a folder with all in it. Raises OSError."""
    above, _, name = inner.rpartition("/")
    with folder(root, above) as place:
        _remove(place, name)


def write(root: str, inner: str, data: bytes, mode: int) -> None:
    """Put a file or, by its ``mode``, a link in the place of what stands there. Raises OSError."""
    above, _, name = inner.rpartition("/")
    draft = f".{os.urandom(6).hex()}.hermes"
    with folder(root, above, made=True) as place:
        if stat.S_ISLNK(mode):
            os.symlink(data, draft, dir_fd=place)
        else:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            with os.fdopen(os.open(draft, flags, 0o600, dir_fd=place), "wb") as file:
                file.write(data)
                file.flush()
                os.fchmod(file.fileno(), stat.S_IMODE(mode))
        try:
            os.replace(draft, name, src_dir_fd=place, dst_dir_fd=place)
        except OSError:
            os.unlink(draft, dir_fd=place)
            raise
