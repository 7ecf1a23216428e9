"""Which files of a workspace run or give orders by themselves, found anew for each look.

Links are never followed but where the person had them before: what such a link leads to counts too.
"""

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from hermes_autorun.autorun import NAMES, TREES, runs_by_itself
from hermes_backend_wall import gitfolders
from hermes_backend_wall.system import inside

__all__ = ["Watched", "counts", "is_below", "is_settings"]

_HEADS = {tree.partition("/")[0] for tree in TREES}
# What package managers fill: nobody works in there, and packages bring such files with them.
_PACKAGES = frozenset({"bower_components", "dist-packages", "node_modules", "site-packages", "vendor"})
# What of a folder of git counts besides its hooks.
_IN_GIT = ("config", "config.worktree", "commondir", "info/attributes")
_SETTINGS = frozenset({"config", "config.worktree"})
_INLINE = 100  # folders that are looked through while a command waits
_DEEP = 20_000
_KEPT = 2_000


class Watched:
    """``folder`` is without links. ``named`` are more folders and files, those that the person's settings name.

    Below the top the same names count, but for packages and for repositories of their own: what they bring is theirs.
    Those are the ones that were there at the first look, and those whose folder was not among ``places`` before.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._walk, self._deep = gitfolders.Walk(folder, _is_named), gitfolders.Walk(folder, _is_named)
        self._rows: Sequence[gitfolders.Row] = ()
        self._deeper: Sequence[gitfolders.Row] = ()
        self._sorted: tuple[object, object] = ((), ())  # the rows that were last gone through
        self._found: list[str] = []
        self._theirs: frozenset[str] = frozenset()  # repositories whose files are their own
        self._below_top: Sequence[str] = ()  # files
        self._trees: Sequence[str] = ()  # and folders
        self._index: tuple[object, list[str]] = (None, [])
        self.named: tuple[str, ...] = ()
        self.git: frozenset[str] = frozenset()  # folders of git, as of the last look
        self.folders: frozenset[str] = frozenset()  # all that were passed by it
        self.places: frozenset[str] | None = None  # those that were there before commands
        self.whole = True  # whether that look left none out

    def deepen(self) -> None:
        """Look through more of the tree than a command waits for; may be called in a thread."""
        self._deeper = self._deep.find(_DEEP)[0]

    def paths(self, links: Mapping[str, str] | None = None, *, walk: bool = True) -> Iterator[str]:
        """All of them, what matters most first; ``links`` are the person's own, with what they lead to.

        Without ``walk`` folders of git are those that are known.
        """
        links = links or {}
        top: dict[str, os.DirEntry[str]] = {}
        with suppress(OSError), os.scandir(self._folder) as entries:
            top = {entry.name: entry for entry in entries}
        if ".git" in top and not top[".git"].is_dir(follow_symlinks=False):
            yield ".git"
        self._find_git(".git" in top, walk=walk)
        for folder in self.git:
            yield from (f"{folder}/{name}" if folder else name for name in _IN_GIT)
            yield from self._below(f"{folder}/hooks" if folder else "hooks")
        for name, entry in top.items():
            if _alone(name) and not entry.is_dir(follow_symlinks=False):
                yield name
        for tree in TREES:
            first = tree.partition("/")[0]
            if first in top:
                yield from self._below(tree)
        yield from self._below_top
        for tree in (*self._trees, *self.named, *links.values()):
            yield from self._below(tree)

    def _find_git(self, top: bool, *, walk: bool) -> None:
        if walk:
            self._rows, self.whole = self._walk.find(_INLINE)
        if self._sorted[0] is not self._rows or self._sorted[1] is not self._deeper:
            self._sort()
        folders = dict.fromkeys([*([".git"] if top else []), *self._found])
        mark = tuple(self._marks(folders))
        if self._index[0] != mark:
            self._index = (mark, [inner for inner in gitfolders.linked(self._folder, folders) if inner])
        led = [inner for inner in (gitfolders.led_to(self._folder, ""),) if inner] if top else []
        self.git = frozenset({*folders, *self._index[1], *led})

    def _sort(self) -> None:
        """Go through what was found once it is another."""
        self._sorted = (self._rows, self._deeper)
        rows = {row.inner: row for row in (*self._deeper, *self._rows)}
        self._found = [row.inner for row in rows.values() if row.is_git]
        self.folders = frozenset(rows)
        plain = [row for row in rows.values() if row.inner and not row.is_git and ".git" not in row.inner.split("/")]
        known = self.places or frozenset()
        self._theirs |= {row.inner for row in plain if row.is_repository and row.inner not in known}
        found = [
            (row.inner, name)
            for row in plain
            if row.named and not _PACKAGES.intersection(row.inner.split("/")) and not self._is_theirs(row.inner)
            for name in row.named
        ]
        self._below_top = [f"{inner}/{name}" for inner, name in found if name not in _HEADS]
        heads = [(inner, name) for inner, name in found if name in _HEADS]
        self._trees = [f"{inner}/{tree}" for inner, name in heads for tree in TREES if tree.partition("/")[0] == name]

    def _is_theirs(self, inner: str) -> bool:
        return any(inside(inner, one) for one in self._theirs)

    def _marks(self, folders: Iterable[str]) -> Iterator[tuple[object, ...]]:
        for folder in folders:
            with suppress(OSError):
                status = os.lstat(f"{self._folder}/{folder}/index")
                yield folder, status.st_ino, status.st_ctime_ns, status.st_size

    def _below(self, tree: str) -> Iterator[str]:
        """The files and links in a folder; a link on the way there in its place."""
        at, mode = "", 0
        for part in tree.split("/"):
            at = f"{at}/{part}" if at else part
            try:
                mode = os.lstat(f"{self._folder}/{at}").st_mode
            except OSError:
                return
            if stat.S_ISLNK(mode):
                yield at
                return
        if stat.S_ISREG(mode):
            yield tree
            return
        for folder, folders, names in os.walk(f"{self._folder}/{tree}"):
            inner = folder[len(self._folder) + 1 :]
            for name in (*names, *(name for name in folders if os.path.islink(f"{folder}/{name}"))):  # noqa: PTH114
                if not (name.endswith(".sample") and inner.endswith("hooks")):
                    yield f"{inner}/{name}"

    def link(self, path: str) -> str:
        """What a link leads to, relative to the folder; empty where that lies outside."""
        full = os.path.realpath(f"{self._folder}/{path}")
        return os.path.relpath(full, self._folder) if inside(full, self._folder) and full != self._folder else ""


def is_settings(path: str, git: Iterable[str]) -> bool:
    """Whether a path is one of settings of git."""
    folder, _, name = path.rpartition("/")
    return name in _SETTINGS and folder in git


def counts(inner: str, watched: Watched) -> bool:
    """Whether a path of a workspace is one of those that are compared."""
    folder, _, name = inner.rpartition("/")
    if inner == ".git" or (folder in watched.git and name in _IN_GIT) or inner.startswith(".git/"):
        return True
    if any(f"/{tree}/" in f"/{inner}/" for tree in TREES) or any(inside(inner, tree) for tree in watched.named):
        return True
    return name.casefold() in NAMES or (not folder and _alone(inner))


def is_below(inner: str, watched: Watched) -> bool:
    """Whether a path that counts, and is none of git's, does so for its name in some folder below the top."""
    return "/" in inner and not any(inside(inner, tree) for tree in (*TREES, *watched.named))


def _is_named(name: str, is_folder: bool) -> bool:
    return name in _HEADS or (not is_folder and name.casefold() in NAMES)


_alone_known: dict[str, bool] = {}


def _alone(name: str) -> bool:
    """Whether a file of this name at the top of a workspace runs or gives orders by itself."""
    if name not in _alone_known:
        if len(_alone_known) > _KEPT:
            _alone_known.clear()
        _alone_known[name] = bool(runs_by_itself(f"/x/{name}"))
    return _alone_known[name]
