"""Small files read and written so that nothing is ever half there, and failures said in plain words."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hermes_core.errors import UserError

_MOST = 16 * 2**20  # bytes; no file of settings comes near it
_REASONS = {
    errno.EACCES: ("permission denied", "Check its owner and rights with: ls -ld {path}"),
    errno.EPERM: ("not permitted", "Check its owner, rights and attributes with: ls -ld {path}"),
    errno.EROFS: ("the file system is read-only", "Mount it writable, or put the home folder elsewhere."),
    errno.ENOSPC: ("the disk is full", "Make room and try again; nothing was changed."),
    errno.EDQUOT: ("your disk quota is used up", "Make room and try again; nothing was changed."),
    errno.EISDIR: ("it is a folder, not a file", "Move the folder away: {path}"),
    errno.ENOTDIR: ("a file stands where a folder is needed", "Move that file away or choose another home folder."),
    errno.EEXIST: ("a file stands where a folder is needed", "Move that file away or choose another home folder."),
}


def explain(error: OSError, doing: str, path: Path | str) -> UserError:
    """Return an error a person understands: what could not be done, where, why and what now."""
    why, hint = _REASONS.get(error.errno or 0, (error.strerror or str(error), "Check the folder and the disk."))
    return UserError(f"Cannot {doing} {path}: {why}.", hint=hint.format(path=path))


def read_bytes(path: Path | str) -> bytes | None:
    """Return the whole file, or None when there is none. Raises UserError when it is there and cannot be read.

    Only a regular file is read, also behind a link: a pipe would never answer, a device never end.
    """
    try:
        # A pipe that nobody writes to opens all the same.
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise UserError(f"Cannot read {path}: it is no regular file.", hint=f"See what it is: ls -lL {path}")
            if len(data := file.read(_MOST + 1)) > _MOST:
                raise UserError(f"Cannot read {path}: it has more than {_MOST // 2**20} MB.", hint="Put it in order.")
            return data
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise explain(error, "read", path) from error


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Keep other processes from changing settings in this folder until the block ends."""
    import fcntl

    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some network file systems have no locks; a rename is then still atomic
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
