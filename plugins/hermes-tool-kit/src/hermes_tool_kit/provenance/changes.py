"""What changed in a folder since a moment: single files with their digests, and trees that are new as a whole."""

import os
import stat
import time
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from hermes_tool_kit.provenance.ledger import LARGEST, Mark, digest_of

__all__ = ["Changes", "changed"]

ENTRIES = 300_000  # files and folders that are looked at
SECONDS = 2.5  # a result waits for it
_DEEPEST = 200  # folders in one another
TREE = 200  # new files in a new folder, from which on it is marked as a whole
_FETCHED = frozenset(("COMMIT_EDITMSG", "FETCH_HEAD", "HEAD", "config", "packed-refs", "reftable"))
_BRANCHES = 5_000  # folders of names of branches and tags
_READ = 64_000_000  # bytes of files that are read for their digests


class Changes(NamedTuple):
    """What changed. ``whole`` says that there was time to look at everything; ``fetched`` are repositories of git
    whose commits or branches changed, which other commands write out later.
    """

    files: Sequence[Mark]
    trees: Sequence[str]
    fetched: Sequence[str]
    whole: bool


class _Seen(NamedTuple):
    """A folder that was looked through."""

    new: list[tuple[str, int]]  # files below that changed, and their sizes
    old: bool  # whether something below did not change
    cloned: bool  # whether it holds a repository of its own


class _Walk:
    def __init__(self, since: int, skipped: AbstractSet[str]) -> None:
        self.since, self.skipped = since, skipped
        self.left, self.ends = ENTRIES, time.monotonic() + SECONDS
        self.trees: list[str] = []
        self.fetched: list[str] = []
        self.whole = True

    def look(self, folder: str, depth: int = 0) -> _Seen:
        new: list[tuple[str, int]] = []
        old = cloned = False
        if depth > _DEEPEST:
            self.whole = False
            return _Seen(new, True, cloned)
        try:
            with os.scandir(folder) as found:
                entries = list(found)
        except OSError:
            return _Seen(new, True, cloned)
        for entry in entries:
            self.left -= 1
            if self.left < 0 or time.monotonic() > self.ends:
                self.whole = False
                return _Seen(new, True, cloned)
            try:
                facts = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            if entry.name == ".git":
                cloned = True
                new_one, fetched = self._repository(entry.path)
                old = old or not new_one
                if fetched and not new_one:
                    self.fetched.append(entry.path)
            elif stat.S_ISDIR(facts.st_mode):
                if entry.path in self.skipped:
                    continue
                below = self.look(entry.path, depth + 1)
                if not below.old and (below.cloned or len(below.new) >= TREE):
                    self.trees.append(entry.path)
                else:
                    new += below.new
                old = old or below.old
                cloned = cloned or below.cloned
            elif facts.st_ctime_ns >= self.since:
                new.append((entry.path, facts.st_size))
            else:
                old = True
        return _Seen(new, old, cloned)

    def _repository(self, path: str) -> tuple[bool, bool]:
        """Whether what git keeps in a place is new as a whole, and whether something was fetched into it."""
        try:
            if not os.path.isdir(path):  # noqa: PTH112 - a work tree's file that leads to it
                return os.lstat(path).st_ctime_ns >= self.since, False
            with os.scandir(path) as found:
                when = {entry.name: entry.stat(follow_symlinks=False).st_ctime_ns for entry in found}
        except OSError:
            return False, True
        new = {name for name, changed in when.items() if changed >= self.since}
        fetched = not new.isdisjoint(_FETCHED) or self._branched(f"{path}/refs")
        return len(new) == len(when), fetched

    def _branched(self, refs: str) -> bool:
        """Whether a branch, a tag or the like was made, moved or taken away."""
        for number, (folder, _, _) in enumerate(os.walk(refs)):
            if number >= _BRANCHES or os.lstat(folder).st_ctime_ns >= self.since:
                return True
        return False


def changed(folder: str, since: int, skipped: AbstractSet[str] = frozenset()) -> Changes:
    """What changed below a folder since ``since``, nanoseconds since 1970. Links are not followed.

    Folders among ``skipped`` are not looked into: they are marked already.
    """
    walk = _Walk(since, skipped)
    seen = walk.look(folder)
    trees = [t for t in walk.trees if not any(t.startswith(f"{other}/") for other in walk.trees)]
    files, left = [], _READ
    for path, size in seen.new:
        left -= size
        files.append(Mark(path, digest_of(path) if size <= LARGEST and left > 0 else "", size))
    fetched = [r for r in walk.fetched if not any(r.startswith(f"{tree}/") for tree in trees)]
    return Changes(files, trees, fetched, walk.whole)
