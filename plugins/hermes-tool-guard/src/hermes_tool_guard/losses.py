"""What a deletion loses for good: no snapshot has it, and nothing makes it again.

A snapshot leaves out what ``.gitignore`` names, keys and ``.env`` files, large files, and the data of repositories
inside the folder; and some folders have none. Of that, what a build makes again is no loss, nor what came to be in this
session. Only names, sizes and ``.gitignore`` files are looked at, and no further than so many, or so long.
"""

import os
import time
from collections.abc import Callable, Iterator
from functools import cached_property
from glob import iglob
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from hermes_paths.ignored import Ignored
from hermes_paths.unsaved import LARGEST_MB, born, is_rebuilt, is_secret, unsaved

__all__ = ["Losses"]

_MOST = 5_000  # files and folders looked at for one command
_LONGEST = 0.25  # seconds
_GLOB = frozenset("*?[")
Picks = Callable[[str, bool], bool]  # whether what lies at a path, which may be a folder, is among what goes


def _all(_path: str, _folder: bool) -> bool:
    return True


class _Walk(NamedTuple):
    """How a walk judges what it meets. ``fresh``: below a folder that came to be in this session."""

    picks: Picks
    ignored: bool = False
    fresh: bool = False


class Losses:
    """What would be lost of a folder in a turn of a session that began at ``since``; ``home`` is the one of Hermes."""

    def __init__(self, root: str, *, since: float, turn: str = "", home: str = "") -> None:
        self.root = os.path.normpath(root)
        self._since = since
        self._turn, self._home = turn, home
        self._ignored = Ignored(self.root)
        self._left, self._until = _MOST, 0.0

    def of(self, path: str) -> str:
        """The first thing that is lost when a path is deleted with all below it, as a person would name it, or nothing.

        ``path`` may be a pattern of the shell.
        """
        self._begin()
        found = [path] if os.path.lexists(path) or not _GLOB & {*path} else islice(iglob(path), _MOST)  # noqa: PTH207
        return next(filter(None, map(self._one, found)), "")

    def below(self, folder: str, picks: Picks, *, ignored: bool = False) -> str:
        """The first thing that is lost of what a command picks below a folder. ``ignored``: of what git ignores."""
        self._begin()
        return self._walked(folder, _Walk(picks, ignored=ignored))

    def overwritten(self, path: str) -> bool:
        """Whether what is in a file now is lost when something else is put in its place."""
        self._begin()
        try:
            status = os.stat(path)  # noqa: PTH116 - asked for every file that a command writes
        except (OSError, ValueError):
            return False
        return bool(status.st_size) and os.path.isfile(path) and bool(self._one(path))  # noqa: PTH113

    def is_own(self, path: str) -> bool:
        """Whether something came to be in this session."""
        moment = born(path) if self._since else None
        return moment is not None and moment >= self._since

    @cached_property
    def _unsaved(self) -> bool:
        """Whether the turn has no snapshot at all."""
        return bool(unsaved(Path(self._home), self._turn))

    def _begin(self) -> None:
        self._left, self._until = _MOST, time.monotonic() + _LONGEST

    def _one(self, path: str) -> str:
        if not self._here(path) or not os.path.lexists(path):
            return ""
        name = path[len(self.root) + 1 :]
        if os.path.isdir(path) and not os.path.islink(path):  # noqa: PTH112, PTH114
            if is_rebuilt(name):
                return ""
            if name.rpartition("/")[2] == ".git":
                return self._history(path)
            return self._walked(path, _Walk(_all, fresh=self.is_own(path)))
        return self._lost(path, name, fresh=False)

    def _here(self, path: str) -> bool:
        return path.startswith(f"{self.root.rstrip('/')}/")

    def _walked(self, folder: str, walk: _Walk) -> str:
        for path, inside in _entries(folder):
            self._left -= 1
            if self._left < 0 or time.monotonic() > self._until:
                return "" if walk.fresh else f"{self._shown(folder)}, more than can be looked through"
            name = path[len(self.root) + 1 :]
            if not inside:
                if walk.picks(path, False) and (found := self._lost(path, name, fresh=walk.fresh, only=walk.ignored)):
                    return found
            elif name.rpartition("/")[2] == ".git":
                if walk.picks is _all and (found := self._history(path)):
                    return found
            elif not is_rebuilt(name):
                deeper = walk._replace(picks=_all) if walk.picks is not _all and walk.picks(path, True) else walk
                if found := self._walked(path, deeper):
                    return found
        return ""

    def _history(self, path: str) -> str:
        """The data of a repository inside the folder, unless the session made it."""
        return "" if self.is_own(path) else self._shown(path)

    def _lost(self, path: str, name: str, *, fresh: bool, only: bool = False) -> str:
        """Whether a file is lost: its name for a person, or nothing."""
        secret = is_secret(os.path.basename(path))  # noqa: PTH119
        if only and not self._ignored.holds(path):
            return ""
        left_out = secret or self._unsaved or (only or _is_large(path) or self._ignored.holds(path))
        if not left_out or (is_rebuilt(name) and not secret):
            return ""
        # A key counts whoever made it: a person may have put it there meanwhile. Not where its whole folder is new.
        return "" if (fresh or not secret) and self.is_own(path) else self._shown(path)

    def _shown(self, path: str) -> str:
        name = path[len(self.root) + 1 :] if self._here(path) else path
        return name if len(name) <= 80 else f"…{name[-77:]}"


def _entries(folder: str) -> Iterator[tuple[str, bool]]:
    try:
        with os.scandir(folder) as found:
            for one in found:
                yield one.path, one.is_dir(follow_symlinks=False)
    except OSError:
        return


def _is_large(path: str) -> bool:
    try:
        return os.lstat(path).st_size > LARGEST_MB * 1_000_000
    except OSError:
        return False
