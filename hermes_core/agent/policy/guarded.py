"""The files that guard the agent, hold its secrets or its memory of what was done: closed to every tool.

A path is looked at as the system would find it: behind links, hard links, ``..``, ``~`` and variables.
"""

import os
import re
import stat
from collections.abc import Iterable, Sequence
from functools import lru_cache
from glob import iglob
from itertools import islice, pairwise
from pathlib import Path

from hermes_core.config.paths import Home
from hermes_core.config.settings import Settings
from hermes_core.patterns import pattern
from hermes_core.places import guarded_by
from hermes_core.types import Session

__all__ = [
    "Clear", "expanded", "guarded_path", "guarded_paths", "guarded_place", "guarded_text", "guarded_words", "read_only",
    "readable",
]  # fmt: skip

# Programs that may name a folder of ours: they tell that it is there, and nothing of what is in it.
_LOOKERS = frozenset(
    {"[", "basename", "cd", "dirname", "du", "echo", "export", "file", "find", "ls", "mkdir", "printf", "pushd", "pwd"}
    | {"readlink", "realpath", "stat", "test", "tree", "which"}
)
# Programs that change what they name, and those that change only what they name last.
_WRITERS = frozenset(
    {
        "chattr", "chgrp", "chmod", "chown", "curl", "dd", "ln", "mkdir", "mkfifo", "mv", "patch", "rm", "rmdir",
        "setfacl", "shred", "sponge", "srm", "tee", "touch", "truncate", "unlink", "unzip", "wget", "wipe",
    }
)  # fmt: skip
_COPIERS = frozenset({"cp", "install", "rsync", "scp"})
_IN_PLACE = pattern(r"-[a-zA-Z]*i|--in-place")
_PARTS = pattern(r"[=:<>|]")
_VARIABLE = pattern(r"\$\{?\w+\}?")
_MAGIC, NO_NAME = pattern(r"[{$`]"), pattern(r"[\0\ud800-\udc7f\udd00-\udfff]")  # what no system has in a name
_MANY = 64
_BARE = pattern(r"[\w@%+,-]*$", re.ASCII)  # a word that means nothing but itself


def guarded_paths(settings: Settings) -> list[Path]:
    """Those of this home that nobody but the house reads or writes, and all of the other profiles beside it."""
    home = settings.home
    caches = [home.cache / name for name in ("config.json", "plugins.json", "keys.json", "faults.json", "crumbs")]
    own = [*_kept(home), *caches, home.base / "active_profile"]
    if home.root == home.base:
        return [*own, home.base / "profiles"]
    others = [p for p in sorted((home.base / "profiles").glob("*")) if p != home.root]
    main = Home(home.base, brand=home.brand)
    return [*own, *others, *_kept(main), *read_only(main)]


def _kept(home: Home) -> list[Path]:
    database = [home.database.with_name(home.database.name + end) for end in ("", "-wal", "-shm")]
    named = [home.root / name for name in ("SOUL.md", "memories", "sessions", "skills.lock")]
    data = home.root / "data"  # what plugins keep for themselves, such as which code a person said yes to
    files = [home.config_file, home.env_file, home.lock_file]
    return [*files, *database, home.plugins, home.logs, data, *named]


def read_only(home: Home) -> list[Path]:
    """What no tool may write either, and of which a call may read what is ``readable``."""
    return [home.cache, home.root / "skills"]


def readable(home: Home, session: Session) -> tuple[str, ...]:
    """What a session's calls may read of it: skills, and the long outputs of its own and of the one it works for."""
    return (f"{home.root}/skills", *(f"{home.outputs}/{name}" for name in (session.id, session.parent) if name))


def guarded_place(place: str, cwd: str, guarded: Sequence[Path], opened: Sequence[str] = ()) -> str:
    """Why a tool may not be let at a file or folder, or nothing: what reads a folder reads what is in it.

    ``opened`` are folders among the guarded ones that the call may read.
    """
    if NO_NAME.search(place):
        return "no file can have such a name"
    full = os.path.join(cwd or "/", expanded(place))  # noqa: PTH118 - in any file system's spelling
    closed = tuple(guarded)
    if opened and _opened(tuple(opened)).holds(full):
        closed = _others(closed, tuple(opened))
    if reason := _look(_known(closed), place or ".", cwd, folders=True):
        return reason
    guard = guarded_by(full, closed)
    return f"{Path(guard).name} belongs to Hermes itself and is closed to tools" if guard else ""


def guarded_words(
    words: Sequence[str],
    cwd: str,
    guarded: Sequence[Path],
    opened: Sequence[str] = (),
    *,
    sweeps: bool,
    clear: "Clear",
) -> str:
    """Why a command may not name what it names, or nothing. One that ``sweeps`` takes what lies below with it.

    ``opened`` are folders among the guarded ones that it may read, and not write as far as its words tell. ``clear``
    holds the words of earlier commands that name nothing of ours.
    """
    closed, free = tuple(guarded), tuple(opened)
    known, written = clear.known or clear.know(closed), set(words) if sweeps else _written(words)
    looks = words[0].rpartition("/")[2] in _LOOKERS and not any(">" in word for word in words)
    for word in words:
        writes = word in written
        if (word, looks, sweeps, writes) in clear.words:
            continue
        clear.words.add((word, looks, sweeps, writes))
        for piece in _PARTS.split(word) if _PARTS.search(word) else (word,):
            bare = _BARE.match(piece) and piece not in known.names
            if bare and not (sweeps or writes) and not clear.there(piece, cwd):
                continue
            for meant in _meant(piece, cwd):
                path = f"./{meant}" if writes and meant and meant[0] not in "/~$-" else meant  # also what is not there
                reason = _look(known, path, cwd, below=sweeps, folders=not looks, real=clear.real)
                if reason and not writes and _opened(free).holds(os.path.join(cwd or "/", expanded(path))):  # noqa: PTH118
                    reason = _look(_known(_others(closed, free)), path, cwd, folders=not looks)
                if reason:
                    return reason
    return ""


def _written(words: Sequence[str]) -> set[str]:
    """The words of a command that name what it changes."""
    program, rest = words[0].rpartition("/")[2], words[1:]
    if program in _WRITERS or (program in ("sed", "perl") and any(_IN_PLACE.match(word) for word in rest)):
        return set(rest)
    found = {word for word in words if ">" in word} | {after for word, after in pairwise(words) if word[-1:] in ">|"}
    if program in _COPIERS:
        found |= {*rest[-1:], *(word for word in rest if word.startswith("--target-dir"))}
        found |= {after for word, after in pairwise(rest) if word == "-t"}
    return found


class Clear:
    """What one look through a command found to be nothing of ours, as the same folder and variables make it."""

    __slots__ = ("known", "listed", "looks", "real", "words")

    def __init__(self) -> None:
        self.words: set[tuple[str, bool, bool, bool]] = set()
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
        if self.listed is not None and piece.casefold() not in self.listed:
            return False
        return _exists(piece, cwd)

    def know(self, guarded: Sequence[Path]) -> "_Known":
        """What is guarded."""
        self.known = _known(tuple(guarded))
        return self.known


def guarded_text(text: str, guarded: Sequence[Path], opened: Sequence[str] = ()) -> str:
    """Why code, of which nothing is known but its letters, may not be run; nothing when it names none of our files."""
    spellings = _known(tuple(guarded)).spellings
    named = next((name for name in spellings if name in text), "")
    if named and opened and ".." not in text:
        text = _opened(tuple(opened)).spelled.sub(" ", text)
        named = next((name for name in spellings if name in text), "")
    return f"it names {named}, which belongs to Hermes itself and is closed to tools" if named else ""


def _meant(piece: str, cwd: str) -> Iterable[str]:
    """The paths a word can mean: itself, and what the shell would make of it."""
    yield piece
    meant = expanded(piece)
    if "$" in piece:  # a variable that is not set is nothing
        yield (meant := _VARIABLE.sub("", meant))
    if any(c in meant for c in "*?["):
        yield from islice(iglob(os.path.join(cwd or "/", meant)), 200)  # noqa: PTH118, PTH207


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
    if not word or NO_NAME.search(word):
        return ""
    meant = expanded(word) if "$" in word or "~" in word else word
    joined = os.path.join(cwd or "/", meant)  # noqa: PTH118
    plain = real is not None and "/" not in meant and meant[:1] not in ("", ".")
    path = joined if plain else os.path.normpath(joined)
    facts = _facts(path)
    odd = _is_link(facts) or _is_shared(facts)
    if folders and (path in known.folders or known.unreadable(path)):
        return f"{word} holds the files of Hermes itself, which are closed to tools"
    if len(word) > 4096 or (not below and not odd and "/" not in meant and meant not in known.names):
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
        self.names = {path.rpartition("/")[2] for place in self.places for path in place}
        self.spellings = _spellings(path for place in self.places for path in place)
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


class _Opened:
    """Folders among the guarded ones that a call may read."""

    def __init__(self, opened: tuple[str, ...]) -> None:
        self.real = [os.path.realpath(folder) for folder in opened]
        names = "|".join(map(re.escape, _spellings((*opened, *self.real))))
        self.spelled = re.compile(rf"(?:{names})(?![^/\s\"'`;|&)<>])")

    def holds(self, path: str) -> bool:
        real = os.path.realpath(path)
        return any(real == folder or real.startswith(f"{folder}/") for folder in self.real)


_opened = lru_cache(maxsize=64)(_Opened)


@lru_cache(maxsize=64)
def _others(guarded: tuple[Path, ...], opened: tuple[str, ...]) -> tuple[Path, ...]:
    """The guarded paths but for those that what is opened lies in."""
    folders = _opened(opened).real
    real = {path: os.path.realpath(path) for path in guarded}
    return tuple(p for p in guarded if not any(f == real[p] or f.startswith(f"{real[p]}/") for f in folders))


def _spellings(paths: Iterable[str]) -> list[str]:
    """Paths as code may write them."""
    found, mine = set(paths), os.path.expanduser("~")  # noqa: PTH111
    homes = [f"{h}{p[len(mine) :]}" for p in found if p.startswith(f"{mine}/") for h in ("~", "$HOME", "${HOME}")]
    return sorted({*found, *homes})


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
