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
from hermes_core.places import guarded_by

__all__ = ["Clear", "expanded", "guarded_path", "guarded_paths", "guarded_place", "guarded_text", "guarded_words"]

# Programs that may name a folder of ours: they tell that it is there, and nothing of what is in it.
_LOOKERS = frozenset(
    {"[", "basename", "cd", "dirname", "du", "echo", "export", "file", "find", "ls", "mkdir", "printf", "pushd", "pwd"}
    | {"readlink", "realpath", "stat", "test", "tree", "which"}
)
_PARTS = re.compile(r"[=:<>]")
_VARIABLE = re.compile(r"\$\{?\w+\}?")
_MAGIC = re.compile(r"[{$`]")
_MANY = 64
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
        home.root / "data",  # what plugins keep for themselves, such as which code a person said yes to
    ]
    if home.root == home.base:
        return [*own, home.base / "profiles"]
    others = [p for p in sorted((home.base / "profiles").glob("*")) if p != home.root]
    return [*own, *others, home.base / "config.yaml", home.base / ".env", home.base / "state.db"]


def guarded_place(place: str, cwd: str, guarded: Sequence[Path]) -> str:
    """Why a tool may not be let at a file or folder, or nothing: what reads a folder reads what is in it."""
    if reason := _look(_known(tuple(guarded)), place, cwd, folders=True):
        return reason
    guard = guarded_by(os.path.join(cwd or "/", expanded(place)), guarded)  # noqa: PTH118 - in any file system's spelling
    return f"{Path(guard).name} belongs to Hermes itself and is closed to tools" if guard else ""


def guarded_words(words: Sequence[str], cwd: str, guarded: Sequence[Path], *, sweeps: bool, clear: "Clear") -> str:
    """Why a command may not name what it names, or nothing. One that ``sweeps`` takes what lies below with it.

    ``clear`` holds the words of earlier commands that name nothing of ours.
    """
    known = clear.known or clear.know(guarded)
    looks = words[0].rpartition("/")[2] in _LOOKERS and not any(">" in word for word in words)
    fresh = [word for word in words if (word, looks, sweeps) not in clear.words]
    for word in fresh:
        clear.words.add((word, looks, sweeps))
        for piece in _PARTS.split(word) if _PARTS.search(word) else (word,):
            if not sweeps and _BARE.match(piece) and piece not in known.names and not clear.there(piece, cwd):
                continue
            for path in _meant(piece, cwd):
                if reason := _look(known, path, cwd, below=sweeps, folders=not looks, real=clear.real):
                    return reason
    return ""


class Clear:
    """What one look through a command found to be nothing of ours, as the same folder and variables make it."""

    __slots__ = ("known", "listed", "looks", "real", "words")

    def __init__(self) -> None:
        self.words: set[tuple[str, bool, bool]] = set()
        self.real: dict[str, str] = {}  # folders, and what they really are
        self.known: _Known | None = None
        self.looks = 0
        self.listed: set[str] | None = None  # what is in the folder, once so much was asked that listing it is cheaper

    def there(self, piece: str, cwd: str) -> bool:
        """Whether something of this plain name is in the folder."""
        self.looks += 1
        if self.looks == _MANY:
            try:
                self.listed = {name.casefold() for name in os.listdir(cwd or "/")}  # noqa: PTH208 - names are enough
            except OSError:
                self.listed = None
        if self.listed is not None and piece.casefold() not in self.listed and piece not in ("", ".", ".."):
            return False
        return _exists(piece, cwd)

    def know(self, guarded: Sequence[Path]) -> "_Known":
        """What is guarded."""
        self.known = _known(tuple(guarded))
        return self.known


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
    return _look(_known(tuple(guarded)), word, cwd, below=below)


def _look(
    known: "_Known",
    word: str,
    cwd: str,
    *,
    below: bool = False,
    folders: bool = False,
    real: dict[str, str] | None = None,
) -> str:
    """The same; with ``folders`` also why the folder may not be touched that the files lie in.

    ``real`` keeps what folders really are, for as long as one command is looked at.
    """
    if not word or len(word) > 4096 or "\0" in word or not word.isprintable():
        return ""
    meant = expanded(word) if "$" in word or "~" in word else word
    joined = os.path.join(cwd or "/", meant)  # noqa: PTH118
    plain = real is not None and "/" not in meant and meant[:1] not in ("", ".")
    path = joined if plain else os.path.normpath(joined)
    facts = _facts(path)
    odd = _is_link(facts) or _is_shared(facts)
    if folders and (path in known.folders or known.unreadable(path)):
        return f"{word} holds the files of Hermes itself, which are closed to tools"
    if not below and not odd and "/" not in meant and meant not in known.names:
        return ""
    behind = _behind(joined, facts, real)
    for guard, kept in known.places:
        holds = below and (kept.startswith(f"{behind}/") or guard.startswith(f"{path}/"))
        if kept in (behind, path) or guard == path or behind.startswith(f"{kept}/") or holds:
            return f"{guard.rpartition('/')[2]} belongs to Hermes itself and is closed to tools"
    if folders and behind in known.folders:
        return f"{word} holds the files of Hermes itself, which are closed to tools"
    if twin := known.twin(facts if behind == path else _facts(behind)):
        return f"it is another name of {twin.rpartition('/')[2]}, which is closed to tools"
    return ""


def _behind(joined: str, facts: os.stat_result | None, real: dict[str, str] | None) -> str:
    """A path as the system walks it: ``..`` behind a link is above what it leads to."""
    folder, _, name = joined.rpartition("/")
    if real is None or name in ("", ".") or ".." in joined or _is_link(facts):
        return os.path.realpath(joined)
    known = real.get(folder)
    if known is None:
        known = real[folder] = os.path.realpath(folder or "/")
    return f"{known.rstrip('/')}/{name}"


class _Known:
    """Guarded paths as they are written and as they are found."""

    def __init__(self, guarded: tuple[Path, ...]) -> None:
        self.places = [(str(guard), os.path.realpath(guard)) for guard in guarded]
        self.names = {guard.name for guard in guarded}
        found = {path for place in self.places for path in place}
        mine = os.path.expanduser("~")  # noqa: PTH111
        homes = [f"{h}{p[len(mine) :]}" for p in found if p.startswith(f"{mine}/") for h in ("~", "$HOME", "${HOME}")]
        self.spellings = sorted({*found, *homes})
        self.folders = {os.path.realpath(guard.parent) for guard in guarded} | {str(g.parent) for g in guarded}

    def unreadable(self, path: str) -> bool:
        """Whether a word names something among them, and only the shell will know what."""
        magic = _MAGIC.search(path)
        return magic is not None and path[: magic.start()].rpartition("/")[0] in self.folders

    def twin(self, facts: os.stat_result | None) -> str:
        """The guarded file that a file with several names is, if it is one."""
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
