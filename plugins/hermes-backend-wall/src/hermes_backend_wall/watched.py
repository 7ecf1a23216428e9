"""Which files of a workspace run or give orders by themselves, found anew for each look.

Links are never followed but where the person had them before: what such a link leads to counts too.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress

from hermes_autorun.autorun import runs_by_itself
from hermes_backend_wall import gitfolders
from hermes_backend_wall.system import inside

__all__ = ["Watched", "counts", "is_settings"]

# Folders whose files count, all of them.
TREES = (
    *(".agents", ".amazonq", ".circleci", ".claude", ".clinerules", ".codex", ".continue", ".crush", ".cursor"),
    *(".devcontainer", ".fleet", ".forgejo/workflows", ".gemini", ".gitea/workflows", ".githooks"),
    *(".github/actions", ".github/agents", ".github/chatmodes", ".github/copilot-instructions.md"),
    *(".github/instructions", ".github/prompts", ".github/workflows", ".husky", ".idea", ".junie", ".kiro"),
    *(".opencode", ".qwen", ".roo", ".vscode", ".windsurf", ".zed"),
)
# What of a folder of git counts besides its hooks.
_IN_GIT = ("config", "config.worktree", "commondir", "info/attributes")
_SETTINGS = frozenset({"config", "config.worktree"})
_INLINE = 100  # folders that are looked through while a command waits
_DEEP = 20_000
_KEPT = 2_000


class Watched:
    """``folder`` is without links. ``named`` are more folders and files, those that the person's settings name."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._walk, self._deep = gitfolders.Walk(folder), gitfolders.Walk(folder)
        self._found: list[str] = []
        self._deeper: list[str] = []
        self._index: tuple[object, list[str]] = (None, [])
        self.named: tuple[str, ...] = ()
        self.git: frozenset[str] = frozenset()  # folders of git, as of the last look
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
        for tree in (*self.named, *links.values()):
            yield from self._below(tree)

    def _find_git(self, top: bool, *, walk: bool) -> None:
        if walk:
            self._found, self.whole = self._walk.find(_INLINE)
        folders = dict.fromkeys([*([".git"] if top else []), *self._found, *self._deeper])
        mark = tuple(self._marks(folders))
        if self._index[0] != mark:
            self._index = (mark, [inner for inner in gitfolders.linked(self._folder, folders) if inner])
        led = [inner for inner in (gitfolders.led_to(self._folder, ""),) if inner] if top else []
        self.git = frozenset({*folders, *self._index[1], *led})

    def _marks(self, folders: Iterable[str]) -> Iterator[tuple[object, ...]]:
        for folder in folders:
            with suppress(OSError):
                status = os.lstat(f"{self._folder}/{folder}/index")
                yield folder, status.st_ino, status.st_ctime_ns, status.st_size

    def _below(self, tree: str) -> Iterator[str]:
        """The files and links in a folder; a link on the way there in its place."""
        at = ""
        for part in tree.split("/"):
            at = f"{at}/{part}" if at else part
            if os.path.islink(f"{self._folder}/{at}"):  # noqa: PTH114
                yield at
                return
        if os.path.isfile(f"{self._folder}/{tree}"):  # noqa: PTH113
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
    return any(inside(inner, tree) for tree in (*TREES, *watched.named)) or (not folder and _alone(inner))


_alone_known: dict[str, bool] = {}


def _alone(name: str) -> bool:
    """Whether a file of this name at the top of a workspace runs or gives orders by itself."""
    if name not in _alone_known:
        if len(_alone_known) > _KEPT:
            _alone_known.clear()
        _alone_known[name] = bool(runs_by_itself(f"/x/{name}"))
    return _alone_known[name]
