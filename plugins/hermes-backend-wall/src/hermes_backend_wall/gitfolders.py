"""Folders of git below a workspace, by what is in them: the one that runs what settings say may lie anywhere.
The same walk finds what else counts in the folders it passes.

``git status`` looks into every repository that the index names, editors into all they find, and a prompt into the one
that somebody enters.
"""

import os
import stat
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress

from hermes_backend_wall import beneath
from hermes_backend_wall.system import inside
from hermes_core.values import frozen

__all__ = ["Row", "Walk", "led_to", "linked"]

_PLAIN = frozenset({"objects", "refs"})
_TREE = frozenset({"HEAD", "commondir"})
_OWN = frozenset({"objects", "refs", "logs", "info", "hooks", "rr-cache", "lfs"})  # of git, with none below
_GITLINK = b"\x00\x00\xe0\x00"  # the mode of an entry that is a repository
_INDEX = 200_000_000  # bytes
_FRESH = 20_000_000  # nanoseconds


@frozen
class Row:
    """A folder as it was read: ``below`` are the folders in it, relative to the root; ``named`` what counts there."""

    inner: str
    full: str
    inode: int
    changed: int
    below: Sequence[str]
    is_git: bool
    is_repository: bool
    named: Sequence[str]


class Walk:
    """Looks through a tree again and again; folders that did not change are not read anew.

    ``counts`` says whether a file (or, with True, a folder) of a name counts.
    """

    def __init__(self, root: str, counts: Callable[[str, bool], bool]) -> None:
        self._root, self._counts = root, counts
        self._rows: list[Row] = []
        self._marks: list[tuple[str, int, int]] = []
        self._last: tuple[int, list[Row], bool] = (0, [], False)

    def find(self, most: int) -> tuple[list[Row], bool]:
        """The folders, the nearest first, in one list as long as nothing changes; whether nothing was left out."""
        if self._last[0] == most and self._is_same():
            return self._last[1:]
        known = {row.inner: row for row in self._rows}
        self._rows = []
        waiting = deque([""])
        while waiting and len(self._rows) < most:
            inner = waiting.popleft()
            with suppress(OSError):
                row = self._read(inner, known.get(inner))
                self._rows.append(row)
                waiting.extend(row.below)
        self._marks = [(row.full, row.changed, row.inode) for row in self._rows]
        self._last = (most, self._rows, not waiting)
        return self._last[1:]

    def _is_same(self) -> bool:
        """Whether no folder changed; no command sets the time that tells."""
        look = os.lstat
        try:
            for full, changed, inode in self._marks:
                status = look(full)
                if status.st_ctime_ns != changed or status.st_ino != inode:
                    return False
        except OSError:
            return False
        return bool(self._marks)

    def _read(self, inner: str, known: Row | None) -> Row:
        full = f"{self._root}/{inner}" if inner else self._root
        status = os.lstat(full)
        if known and (known.changed, known.inode) == (status.st_ctime_ns, status.st_ino):
            return known
        names: set[str] = set()
        below: list[str] = []
        named: list[str] = []
        with os.scandir(full) as entries:
            for entry in entries:
                names.add(entry.name)
                is_folder = entry.is_dir(follow_symlinks=False)
                if is_folder:
                    below.append(entry.name)
                if self._counts(entry.name, is_folder):
                    named.append(entry.name)
        is_git = names >= _PLAIN or names >= _TREE
        if is_git:
            below = [name for name in below if name not in _OWN]
        paths = [f"{inner}/{name}" if inner else name for name in below]
        # Clocks are coarse: what was changed right now may be changed again and bear the same time.
        changed = 0 if time.time_ns() - status.st_ctime_ns < _FRESH else status.st_ctime_ns
        return Row(inner, full, status.st_ino, changed, paths, is_git, ".git" in names, named)


def led_to(root: str, inner: str) -> str:
    """The folder of git, relative to the root, that ``.git`` in a folder is or names; empty where it is elsewhere."""
    path = f"{inner}/.git" if inner else ".git"
    try:
        mode = os.lstat(f"{root}/{path}").st_mode
        if not inner and stat.S_ISDIR(mode):
            return path
        if stat.S_ISREG(mode):
            words = beneath.read(root, path, 10_000).decode(errors="surrogateescape")
            named = words.removeprefix("gitdir:").strip()
            full = os.path.realpath(os.path.join(root, inner, named))  # noqa: PTH118
        else:
            full = os.path.realpath(f"{root}/{path}")
    except (OSError, ValueError):
        return ""
    return os.path.relpath(full, root) if inside(full, root) and full != root else ""


def linked(root: str, folders: Iterable[str]) -> Iterator[str]:
    """Folders of git of the repositories that the indexes of others name."""
    for folder in folders:
        base = os.path.dirname(folder) if os.path.basename(folder) == ".git" else ""  # noqa: PTH119, PTH120
        with suppress(OSError):
            names = [name for name in os.listdir(f"{root}/{folder}") if name == "index" or name[:12] == "sharedindex."]  # noqa: PTH208
            for name in names:
                for path in _entries(beneath.read(root, f"{folder}/{name}", _INDEX)):
                    inner = os.path.normpath(os.path.join(base, os.fsdecode(path)))  # noqa: PTH118
                    if not inner.startswith(("..", "/")) and (found := led_to(root, inner)):
                        yield found


def _entries(data: bytes) -> Iterator[bytes]:
    """The repositories that an index names. Ends where it is broken: git reads no further either."""
    if _GITLINK not in data or data[:4] != b"DIRC":
        return
    version, count = int.from_bytes(data[4:8], "big"), int.from_bytes(data[8:12], "big")
    for hashed in (20, 32):
        found = list(_walked(data, version, min(count, 2_000_000), hashed))
        yield from found


def _walked(data: bytes, version: int, count: int, hashed: int) -> Iterator[bytes]:
    at, path = 12, b""
    for _ in range(count):
        flags = int.from_bytes(data[at + 40 + hashed : at + 42 + hashed], "big")
        name = at + 42 + hashed + (2 if flags & 0x4000 else 0)
        end = data.find(b"\0", name)
        if end < 0:
            return
        if version == 4:
            cut = data[name] & 127
            while data[name] & 128 and name < end:
                name += 1
                cut = ((cut + 1) << 7) | (data[name] & 127)
            end = data.find(b"\0", name + 1)
            path = path[: len(path) - cut] + data[name + 1 : end]
            after = end + 1
        else:
            path = data[name:end]
            after = at + (end - at + 8) // 8 * 8
        if data[at + 24 : at + 28] == _GITLINK:
            yield path
        at = after
