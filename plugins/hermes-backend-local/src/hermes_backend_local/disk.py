"""Reading and writing files of this machine, without starting a process."""

import os
import stat
import tempfile
from contextlib import suppress

from hermes_core.errors import ToolError

READ_LIMIT = 100_000_000


def read_file(path: str) -> bytes:
    """The bytes of a regular file. Raises ToolError for anything else, and for files too large to hold."""
    try:
        # O_NONBLOCK: opening a FIFO must not wait for its other end before we can say no.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise ToolError(f"Cannot read {path}: {_plain(error)}.") from error
    try:
        status = os.fstat(descriptor)
        _must_be_file(path, status, "read")
        if status.st_size > READ_LIMIT:
            raise ToolError(
                f"Cannot read {path}: it has {status.st_size:,} bytes, more than {READ_LIMIT:,}.",
                hint="Look at a part of it with a command such as head, tail, sed -n or grep.",
            )
        with open(descriptor, "rb", closefd=False) as file:
            return file.read(READ_LIMIT)
    except OSError as error:
        raise ToolError(f"Cannot read {path}: {_plain(error)}.") from error
    finally:
        os.close(descriptor)


def write_file(path: str, data: bytes) -> None:
    """Replace a file as a whole; its mode is kept and a link stays a link. Raises ToolError, changing nothing."""
    target = os.path.realpath(path)
    folder, name = os.path.split(target)
    try:
        before = _status(target)
        if before:
            _must_be_file(path, before, "write")
        os.makedirs(folder, exist_ok=True)  # noqa: PTH103 - target is a string all the way
        temporary = tempfile.mktemp(prefix=f".{name[:40]}.", suffix=".hermes", dir=folder)  # noqa: S306 - O_EXCL below
        # Mode 0666 lets the umask decide for new files, as every other program does.
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise ToolError(f"Cannot write {path}: {_plain(error)}.") from error
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            if before:
                _keep(descriptor, before)
        os.replace(temporary, target)  # noqa: PTH105
    except BaseException as error:
        with suppress(OSError):
            os.unlink(temporary)  # noqa: PTH108
        if isinstance(error, OSError):
            raise ToolError(f"Cannot write {path}: {_plain(error)}.") from error
        raise


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)  # noqa: PTH116
    except FileNotFoundError:
        return None


def _keep(descriptor: int, before: os.stat_result) -> None:
    with suppress(PermissionError):  # only root may give a file away; the content matters more
        if (before.st_uid, before.st_gid) != (os.geteuid(), os.getegid()):
            os.fchown(descriptor, before.st_uid, before.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(before.st_mode))


def _must_be_file(path: str, status: os.stat_result, verb: str) -> None:
    if stat.S_ISREG(status.st_mode):
        return
    what = "a folder" if stat.S_ISDIR(status.st_mode) else "a device, pipe or socket, not a file"
    raise ToolError(f"Cannot {verb} {path}: it is {what}.")


def _plain(error: OSError) -> str:
    text = error.strerror or str(error)
    return text[:1].lower() + text[1:]
