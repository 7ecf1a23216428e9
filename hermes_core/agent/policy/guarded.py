"""The files that guard the agent, hold its secrets or its memory of what was done: closed to every tool.

A path is looked at as the system would find it: behind links, hard links, ``..``, ``~`` and variables.
"""

import os
import re
import stat
from collections.abc import Iterable, Sequence
from functools import lru_cache
from glob import iglob
from itertools import islice
from pathlib import Path

from hermes_core.config.settings import Settings

__all__ = ["expanded", "guarded_path", "guarded_paths", "guarded_place", "guarded_text", "guarded_words"]

# Programs that may name a folder of ours: they tell that it is there, and nothing of what is in it.
_LOOKERS = frozenset(
    {"[", "basename", "cd", "dirname", "du", "echo", "export", "file", "find", "ls", "mkdir", "printf", "pushd", "pwd"}
    | {"readlink", "realpath", "stat", "test", "tree", "which"}
)
_PARTS = re.compile(r"[=:<>]")
_VARIABLE = re.compile(r"\$\{?\w+\}?")
_MAGIC = re.compile(r"[{$`]")
_BARE = re.compile(r"^[\w@%+,-]*$", re.ASCII)  # a word that means nothing but itself


def guarded_paths(settings: Settings) -> list[Path]:
    """Those of this home, with what is kept of them in its cache, and of the other profiles beside it."""
    home = settings.home
    database = [home.database.with_name(home.database.name + end) for end in ("", "-wal", "-shm")]
    caches = [home.cache / name for name in ("config.json", "plugins.json", "keys.json", "crumbs")]
    own = [
        home.config_file,
        home.env_file,
        home.lock_file,
        home.plugins,
        *database,
        home.base / "active_profile",
        *caches,
    ]
    if home.root == home.base:
        return [*own, home.base / "profiles"]
    others = [p for p in sorted((home.base / "profiles").glob("*")) if p != home.root]
    return [*own, *others, home.base / "config.yaml", home.base / ".env", home.base / "state.db"]


def guarded_place(place: str, cwd: str, guarded: Sequence[Path]) -> str:
    """Why a tool may not be let at a file or folder, or nothing: what reads a folder reads what is in it."""
    if reason := guarded_path(place, cwd, guarded):
        return reason
    holds = _known(tuple(guarded)).holds(place, cwd)
    return f"{place} holds the files of Hermes itself, which are closed to tools" if holds else ""


def guarded_words(words: Sequence[str], cwd: str, guarded: Sequence[Path], *, sweeps: bool) -> str:
    """Why a command may not name what it names, or nothing. One that ``sweeps`` takes what lies below with it."""
    known = _known(tuple(guarded))
    looks = words[0].rpartition("/")[2] in _LOOKERS and not any(">" in word for word in words)
    for word in words:
        for piece in _PARTS.split(word):
            if not sweeps and _BARE.match(piece) and piece not in known.names and not _exists(piece, cwd):
                continue
            for path in _meant(piece, cwd):
                if reason := guarded_path(path, cwd, guarded, below=sweeps):
                    return reason
                if not looks and known.holds(path, cwd):
                    return f"{path} holds the files of Hermes itself, which are closed to tools"
    return ""


def guarded_text(text: str, guarded: Sequence[Path]) -> str:
    """Why code, of which nothing is known but its letters, may not be run; nothing when it names none of our files."""
    named = next((name for name in _known(tuple(guarded)).spellings if name in text), "")
    return f"it names {named}, which belongs to Hermes itself and is closed to tools" if named else ""


def _meant(piece: str, cwd: str) -> Iterable[str]:
    """The paths a word can mean: itself, and what the shell would make of it."""
    yield piece
    if "$" in piece:  # a variable that is not set is nothing
        yield _VARIABLE.sub("", expanded(piece))
    if any(c in piece for c in "*?["):
        yield from islice(iglob(os.path.join(cwd or "/", expanded(piece))), 200)  # noqa: PTH118, PTH207


def guarded_path(word: str, cwd: str, guarded: Sequence[Path], *, below: bool = False) -> str:
    """Why a path may never be touched by a tool, or nothing.

    ``below`` asks about what lies under the path too, as for a command that takes folders away.
    """
    if not word or len(word) > 4096 or "\0" in word or not word.isprintable():
        return ""
    known = _known(tuple(guarded))
    meant = expanded(word)
    joined = os.path.join(cwd or "/", meant)  # noqa: PTH118
    path = os.path.normpath(joined)
    facts = _facts(path)
    bare = "/" not in meant and meant not in known.names
    if not below and bare and not _is_link(facts) and not _is_shared(facts):
        return ""
    real = os.path.realpath(joined)  # as the system walks it: ``..`` behind a link is above what it leads to
    for guard, kept in known.places:
        holds = below and (kept.startswith(f"{real}/") or guard.startswith(f"{path}/"))
        if kept in (real, path) or guard == path or real.startswith(f"{kept}/") or holds:
            return f"{os.path.basename(guard)} belongs to Hermes itself and is closed to tools"  # noqa: PTH119
    if twin := known.twin(real):
        return f"it is another name of {os.path.basename(twin)}, which is closed to tools"  # noqa: PTH119
    return ""


class _Known:
    """Guarded paths as they are written and as they are found."""

    def __init__(self, guarded: tuple[Path, ...]) -> None:
        self.places = [(str(guard), os.path.realpath(guard)) for guard in guarded]
        self.names = {guard.name for guard in guarded}
        found = {path for place in self.places for path in place}
        mine = os.path.expanduser("~")  # noqa: PTH111
        homes = [f"{h}{p[len(mine) :]}" for p in found if p.startswith(f"{mine}/") for h in ("~", "$HOME", "${HOME}")]
        self.spellings = sorted({*found, *homes})
        self._folders = {os.path.realpath(guard.parent) for guard in guarded} | {str(g.parent) for g in guarded}

    def holds(self, word: str, cwd: str) -> bool:
        """Whether a path is a folder that they lie in."""
        meant = expanded(word)
        joined = os.path.join(cwd or "/", meant)  # noqa: PTH118
        path = os.path.normpath(joined)
        if path in self._folders:
            return bool(word)
        if magic := _MAGIC.search(path):  # what the shell will make of it cannot be known
            return path[: magic.start()].rpartition("/")[0] in self._folders
        return (".." in meant or _is_link(_facts(path))) and os.path.realpath(joined) in self._folders

    def twin(self, path: str) -> str:
        """The guarded file that a file with several names is, if it is one."""
        facts = _facts(path)
        if facts is None or not _is_shared(facts):
            return ""
        for guard, _ in self.places:
            try:
                if os.path.samestat(os.stat(guard), facts):  # noqa: PTH116
                    return guard
            except OSError:
                continue
        return ""


@lru_cache(maxsize=8)
def _known(guarded: tuple[Path, ...]) -> _Known:
    return _Known(guarded)


def _exists(piece: str, cwd: str) -> bool:
    return bool(piece) and _facts(f"{cwd}/{piece}") is not None


def _facts(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except (OSError, ValueError):
        return None


def _is_link(facts: os.stat_result | None) -> bool:
    return facts is not None and stat.S_ISLNK(facts.st_mode)


def _is_shared(facts: os.stat_result | None) -> bool:
    return facts is not None and stat.S_ISREG(facts.st_mode) and facts.st_nlink > 1


def expanded(word: str) -> str:
    """A word with ``~`` and variables as this process knows them."""
    return os.path.expandvars(os.path.expanduser(word))  # noqa: PTH111
