"""Reading and writing files of this machine, without starting a process."""

import os
import stat
from contextlib import suppress

from hermes_backend_kit.files import PART, READ_LIMIT
from hermes_core.errors import ToolError
from hermes_paths.places import PathRules, open_parent, open_path


def read_file(path: str, rules: PathRules) -> bytes:
    """The bytes of a regular file. Raises ToolError for anything else, and for files too large to hold."""
    try:
        descriptor = open_path(path, rules)
    except OSError as error:
        raise ToolError(f"Cannot read {path}: {_plain(error)}.") from error
    try:
        size = os.fstat(descriptor).st_size
        if size > READ_LIMIT:
            raise ToolError(
                f"Cannot read {path}: it has {size:,} bytes, more than {READ_LIMIT:,}.",
                hint=PART,
            )
        with open(descriptor, "rb", closefd=False) as file:
            return file.read(READ_LIMIT)
    except OSError as error:
        raise ToolError(f"Cannot read {path}: {_plain(error)}.") from error
    finally:
        os.close(descriptor)


def write_file(path: str, data: bytes, rules: PathRules) -> None:
    """Replace a file as a whole; its mode is kept and a link stays a link. Raises ToolError, changing nothing."""
    try:
        folder, name = open_parent(path, rules)
    except OSError as error:
        raise ToolError(f"Cannot write {path}: {_plain(error)}.") from error
    draft = f".{name[:40]}.{os.urandom(6).hex()}.hermes"
    try:
        before = _status(folder, name)
        # Mode 0666 lets the umask decide for new files, as every other program does.
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666, dir_fd=folder)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                if before:
                    _keep(descriptor, before)
            os.replace(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(OSError):
                os.unlink(draft, dir_fd=folder)
            raise
    except OSError as error:
        raise ToolError(f"Cannot write {path}: {_plain(error)}.") from error
    finally:
        os.close(folder)


def _status(folder: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _keep(descriptor: int, before: os.stat_result) -> None:
    with suppress(PermissionError):  # only root may give a file away; the content matters more
        if (before.st_uid, before.st_gid) != (os.geteuid(), os.getegid()):
            os.fchown(descriptor, before.st_uid, before.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(before.st_mode))


def _plain(error: OSError) -> str:
    text = error.strerror or str(error)
    return text[:1].lower() + text[1:]
