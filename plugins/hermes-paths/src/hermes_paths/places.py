"""Where a path that a model wrote leads, and opening the file there and nowhere else.

A path is read in one way (``spell``), its links are followed, the place is judged (``check_path``), and the file is
opened component by component without following any link again (``open_path``, ``open_parent``): what was swapped in
the meantime is not opened. What was opened is compared with the guarded files by what it is, not by its name, so that
hard links, mounts and other spellings gain nothing.

On a machine that is not this one only ``spell`` can be used; there the backend is the boundary.
"""

import errno
import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, Self

from hermes_closed.closed import guarded_by
from hermes_core.errors import OutOfReach

__all__ = ["PathRules", "check_path", "open_parent", "open_path", "spell"]

LONGEST = 4_096  # bytes of a path
LONGEST_NAME = 255  # bytes of one part
SEARCHED = 50_000  # files of guarded folders that a file with several names is compared with
_SHARED_MEMORY = "/dev/shm"  # noqa: S108 - named to allow it
_HARMLESS_PROC = frozenset(
    "cpuinfo meminfo loadavg uptime version stat filesystems partitions swaps diskstats vmstat".split()  # noqa: SIM905
)
_STEP = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK: opening a FIFO must not wait for its other end before we can say no.
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | getattr(os, "O_NOCTTY", 0)


class PathRules(NamedTuple):
    """What may be opened. ``cwd`` is where relative paths start; ``home`` is what ``~`` means, else this process's.

    With ``roots`` only what lies in one of these folders. ``guarded`` are files and folders that are closed.
    ``spelled`` is for backends: paths come absolute from ``spell``, or from the kernel, and any name is a name.
    """

    cwd: str
    home: str = ""
    roots: Sequence[str | Path] = ()
    guarded: Sequence[str | Path] = ()
    spelled: bool = False


def spell(text: str, cwd: str, home: str = "") -> str:
    """The one absolute path that a text means, ``..`` and needless slashes gone; nothing is looked up.

    Raises OutOfReach for what is no path, has two readings, or names a device.
    """
    if reason := _misspelled(text):
        raise _refused(text, reason)
    if text.startswith("~"):
        name, _, rest = text[1:].partition("/")
        if name:
            raise _refused(text, f"~{name} may be another person's home; write the whole path, or ./~{name} for a file")
        text = os.path.join(home or os.path.expanduser("~"), rest.lstrip("/"))  # noqa: PTH111, PTH118 - text, not a file of ours
    return _measured(text, cwd)


def _measured(text: str, cwd: str) -> str:
    path = "/" + os.path.normpath(os.path.join("/", cwd, text)).lstrip("/")  # noqa: PTH118
    if "\0" in path:
        raise _refused(text, "a path cannot hold a NUL character")
    if len(os.fsencode(path)) >= LONGEST or any(len(os.fsencode(name)) > LONGEST_NAME for name in path.split("/")):
        raise _refused(text, f"no path is longer than {LONGEST:,} bytes, and no name than {LONGEST_NAME}")
    if reason := _special(path):
        raise _refused(text, reason)
    return path


def _misspelled(text: str) -> str:
    if not text.strip():
        return "it is empty"
    if odd := re.search("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff\U000e0000-\U000e007f]", text):
        return f"it holds the invisible character {odd[0]!a}"
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+://|file:", text, re.IGNORECASE):
        return "it is a URL; write a path"
    if re.match(r"[A-Za-z]:([\\/]|$)|\\\\|//[?.]/", text):
        return "it is a path of Windows, and this machine has no drives"
    return ""


def _special(path: str) -> str:
    """Why a place holds no files in the common sense: devices, and windows into processes and the system."""
    parts = path.split("/")
    if parts[1] == "dev" and len(parts) > 2 and not path.startswith(f"{_SHARED_MEMORY}/") and path != _SHARED_MEMORY:
        return "it is a device, not a file"
    if parts[1] == "proc" and len(parts) > 2 and not (len(parts) == 3 and parts[2] in _HARMLESS_PROC):
        return "it is a device of the system: a window into a process or the kernel"
    if parts[1] == "sys" and len(parts) > 2:
        return "it is a device of the system"
    return ""


def check_path(text: str, rules: PathRules) -> str:
    """The real path, all links followed, of a text that may be opened. The file need not exist. Raises OutOfReach."""
    path = _measured(text, rules.cwd) if rules.spelled else spell(text, rules.cwd, rules.home)
    real = os.path.realpath(path)
    if reason := _special(real):
        raise _refused(text, f"it leads to {real}, and {reason.removeprefix('it ')}")
    if rules.roots and not any(_inside(real, os.path.realpath(root)) for root in rules.roots):
        raise _refused(text, f"it leads to {real}, outside of {', '.join(map(str, rules.roots))}")
    if guard := guarded_by(path, rules.guarded):
        raise _closed(text, guard)
    return real


def open_path(text: str, rules: PathRules, *, folder: bool = False) -> int:
    """Open a regular file (or a folder) for reading; the descriptor is the caller's to close.

    Raises OutOfReach when a rule forbids it or it is no regular file, OSError when it cannot be opened.
    """
    real = check_path(text, rules)
    with _Walk(rules) as walk:
        parent, name = walk.to(text, real)
        flags = _READ | (os.O_DIRECTORY if folder else 0)
        if not folder:  # to open a device can be to use it
            _must_be_file(text, os.stat(name or ".", dir_fd=parent, follow_symlinks=False))
        descriptor = os.open(name or ".", flags, dir_fd=parent)
    try:
        status = os.fstat(descriptor)
        if not folder:
            _must_be_file(text, status)
        _compare(text, real, status, rules)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def open_parent(text: str, rules: PathRules) -> tuple[int, str]:
    """Open the folder that a file is to be written into, making it, and give it with the file's name in it.

    Write a draft there and rename it with ``dir_fd``: a link that is put in the file's place is then replaced, never
    followed. The descriptor is the caller's to close. Raises OutOfReach, also when something else than a regular file
    is in that place, and OSError.
    """
    real = check_path(text, rules)
    with _Walk(rules, make=True) as walk:
        parent, name = walk.to(text, real)
        if not name:
            raise _refused(text, "it is a folder")
        with suppress(FileNotFoundError):
            status = os.stat(name, dir_fd=parent, follow_symlinks=False)
            _must_be_file(text, status)
            _compare(text, real, status, rules)
        return os.dup(parent), name


class _Walk:
    """Goes down from the root, one folder at a time, following no link. Every folder on the way is compared."""

    def __init__(self, rules: PathRules, *, make: bool = False) -> None:
        self._make = make
        self._guards = dict(_identities(rules.guarded))
        self._at = -1

    def __enter__(self) -> Self:
        self._at = os.open("/", _STEP)
        return self

    def __exit__(self, *error: object) -> None:
        os.close(self._at)

    def to(self, text: str, real: str) -> tuple[int, str]:
        """The folder that holds the last part of a real path, open until the end of ``with``, and that part."""
        *folders, name = real.strip("/").split("/")
        for folder in folders:
            try:
                below = os.open(folder, _STEP, dir_fd=self._at)
            except FileNotFoundError:
                if not self._make:
                    raise
                with suppress(FileExistsError):
                    os.mkdir(folder, dir_fd=self._at)
                below = os.open(folder, _STEP, dir_fd=self._at)
            os.close(self._at)
            self._at = below
            if self._guards:
                status = os.fstat(below)
                if guard := self._guards.get((status.st_dev, status.st_ino)):
                    raise _closed(text, guard)
        return self._at, name


def _must_be_file(text: str, status: os.stat_result) -> None:
    if stat.S_ISLNK(status.st_mode):  # it was none when the path was judged
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    if not stat.S_ISREG(status.st_mode):
        kind = "a folder" if stat.S_ISDIR(status.st_mode) else "a device, pipe or socket, not a file"
        raise _refused(text, f"it is {kind}")


def _compare(text: str, real: str, status: os.stat_result, rules: PathRules) -> None:
    """Refuse what was opened if it is a guarded file under another name, or a window into the system."""
    identity = (status.st_dev, status.st_ino)
    for known, guard in _identities(rules.guarded):
        if identity == known:
            raise _closed(text, guard)
    if stat.S_ISREG(status.st_mode) and status.st_nlink > 1 and rules.guarded:
        for guard, path in _files_in(rules.guarded):
            with suppress(OSError):
                found = os.stat(path, follow_symlinks=False)  # noqa: PTH116
                if identity == (found.st_dev, found.st_ino):
                    raise _closed(text, guard)
    for place in ("/proc", "/sys"):
        if not _inside(real, place):
            with suppress(OSError):
                if os.stat(place).st_dev == status.st_dev != os.stat("/").st_dev:  # noqa: PTH116
                    raise _refused(text, f"it is on the same mount as {place}, which holds no files")


def _identities(guarded: Sequence[str | Path]) -> Iterator[tuple[tuple[int, int], str]]:
    for guard in guarded:
        with suppress(OSError):
            status = os.stat(guard)  # noqa: PTH116
            yield (status.st_dev, status.st_ino), str(guard)


def _files_in(guarded: Sequence[str | Path]) -> Iterator[tuple[str, str]]:
    """The files of guarded folders; when there are more than can be looked through, a refusal is the safe answer."""
    count = 0
    for guard in guarded:
        for folder, _, names in os.walk(guard):
            for name in names:
                count += 1
                if count > SEARCHED:
                    raise OutOfReach(f"Not opened: the file has other names too, and {guard} is too large to compare.")
                yield str(guard), os.path.join(folder, name)  # noqa: PTH118


def _inside(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip("/") + "/")


def _refused(text: str, reason: str) -> OutOfReach:
    shown = text if len(text) <= 200 else f"{text[:200]}…"
    if not shown.isprintable():
        shown = ascii(shown)[1:-1]
    return OutOfReach(f"{shown or 'The path'} was not opened: {reason}.")


def _closed(text: str, guard: str) -> OutOfReach:
    return _refused(text, f"{os.path.basename(guard)} belongs to Hermes itself and is closed to tools")  # noqa: PTH119
