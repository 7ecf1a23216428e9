"""What a command names of the files that are closed to tools, word by word, whichever program it names them to."""

import os
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from glob import iglob
from itertools import islice, pairwise
from pathlib import Path

from hermes_closed.closed import Closed, closed, closed_but, expanded, opened
from hermes_core.patterns import pattern

__all__ = ["Clear", "closed_text", "closed_words"]

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
_PLAIN_MOVE = pattern(r"-[finuv]+|--")
_UNTOLD = pattern(r"[$`(){}<>|]")
_MANY = 64
_BARE = pattern(r"[\w@%+,-]*$", re.ASCII)  # a word that means nothing but itself


def closed_words(
    words: Sequence[str],
    cwd: str,
    guarded: Sequence[Path],
    readable: Sequence[str] = (),
    *,
    sweeps: bool,
    clear: "Clear",
) -> str:
    """Why a command may not name what it names, or nothing. One that ``sweeps`` takes what lies below with it.

    ``readable`` are folders among the guarded ones that it may read, and not write as far as its words tell. ``clear``
    holds the words of earlier commands that name nothing of ours.
    """
    shut, free = tuple(guarded), tuple(readable)
    known, written = clear.known or clear.know(shut), set(words) if sweeps else _written(words)
    looks = words[0].rpartition("/")[2] in _LOOKERS and not any(">" in word for word in words)
    into, landed = _landing(words) if sweeps else ("", ())
    for word in (*words, *landed):
        writes, takes = word in written, sweeps and word != into
        if (word, looks, takes, writes) in clear.words:
            continue
        clear.words.add((word, looks, takes, writes))
        for piece in _PARTS.split(word) if _PARTS.search(word) else (word,):
            bare = _BARE.match(piece) and piece not in known.names
            if bare and not (takes or writes) and not clear.there(piece, cwd):
                continue
            for meant in _meant(piece, cwd):
                path = f"./{meant}" if writes and meant and meant[0] not in "/~$-" else meant  # also what is not there
                reason = known.why(path, cwd, below=takes, folders=not looks, real=clear.real)
                if reason and not writes and opened(free).holds(os.path.join(cwd or "/", expanded(path))):  # noqa: PTH118
                    reason = closed(closed_but(shut, free)).why(path, cwd, folders=not looks)
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


def _landing(words: Sequence[str]) -> tuple[str, Sequence[str]]:
    """The folder that ``mv`` puts things in, which stays what it is, and what they are called there.

    Nothing where that cannot be told: another option than the plain ones, a name that only the shell will know.
    """
    named = [word for word in words[1:] if not _PLAIN_MOVE.fullmatch(word)]
    *moved, into = named or [""]
    if words[0].rpartition("/")[2] != "mv" or not moved or into in moved:
        return "", ()
    if any(word.startswith("-") or _UNTOLD.search(word) for word in named):
        return "", ()
    names = [word.rstrip("/").rpartition("/")[2] for word in moved]
    return ("", ()) if {"", ".", ".."} & {*names} else (into, [f"{into}/{name}" for name in names])


class Clear:
    """What one look through a command found to be nothing of ours, as the same folder and variables make it."""

    __slots__ = ("known", "listed", "looks", "real", "words")

    def __init__(self) -> None:
        self.words: set[tuple[str, bool, bool, bool]] = set()
        self.real: dict[str, str] = {}  # folders, and what they really are
        self.known: Closed | None = None
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
        return bool(piece) and os.path.lexists(f"{cwd}/{piece}")

    def know(self, guarded: tuple[Path, ...]) -> Closed:
        """What is guarded."""
        self.known = closed(guarded)
        return self.known


def closed_text(text: str, guarded: Sequence[Path], readable: Sequence[str] = ()) -> str:
    """Why code, of which nothing is known but its letters, may not be run; nothing when it names none of our files."""
    spellings = _spelled_out(tuple(guarded))
    named = next((name for name in spellings if name in text), "")
    if named and readable and ".." not in text:
        text = _spelled(tuple(readable)).sub(" ", text)
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


@lru_cache(maxsize=8)
def _spelled_out(paths: tuple[Path, ...]) -> list[str]:
    return _spellings(path for place in closed(paths).places for path in place)


@lru_cache(maxsize=64)
def _spelled(folders: tuple[str, ...]) -> re.Pattern[str]:
    """Folders as code may write them, where nothing that follows leads on out of them."""
    names = "|".join(map(re.escape, _spellings((*folders, *opened(folders).real))))
    return re.compile(rf"(?:{names})(?![^/\s\"'`;|&)<>])")


def _spellings(paths: Iterable[str]) -> list[str]:
    """Paths as code may write them."""
    found, mine = set(paths), os.path.expanduser("~")  # noqa: PTH111
    homes = [f"{h}{p[len(mine) :]}" for p in found if p.startswith(f"{mine}/") for h in ("~", "$HOME", "${HOME}")]
    return sorted({*found, *homes})
