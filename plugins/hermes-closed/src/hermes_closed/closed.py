"""Files that are closed to tools, by whatever name a path has for them, and places that all else depends on.

A path is looked at as the system would find it: behind links, hard links, ``..``, ``~`` and variables.
"""

import os
import re
import stat
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

__all__ = [
    "NO_NAME", "Closed", "Opened", "closed", "closed_but", "expanded", "guarded_by", "opened", "vital_place", "wide",
]  # fmt: skip

# Patterns are compiled when first used: most starts need none of them.
_MAGIC, NO_NAME = r"[{$`]", r"[\0\ud800-\udc7f\udd00-\udfff]"  # the latter is what no system has in a name
_HOLDERS = ("/home", "/Users", "/mnt", "/media", "/Volumes")  # of homes and of mounts
_WIDE = (
    r"(/private)?(/var)?/tmp|/(dev(/shm)?|opt|root|run(/user(/[^/]*)?)?|srv|var|mnt/[a-z]/Users(/[^/]*)?)"
    r"|(/private)?/(s?bin|boot|etc|lib(x?32|64)?|proc|sys|usr(?!(/local)?/src/.)|var/(cache|lib|log|spool))(/.*)?"
)
_OF_THE_PERSON = (  # keys, and what holds the settings of all programs
    r"\.(ssh|gnupg|aws|azure|kube|docker|password-store|config/(gcloud|gh)|local/share/keyrings)(/.*)?"
    r"|\.(cache|config|local(/(bin|share))?)"
)


class Closed:
    """Closed files and folders as they are written and as they are found. ``names`` are their last parts."""

    def __init__(self, paths: tuple[Path, ...]) -> None:
        self.places = [(str(path), os.path.realpath(path)) for path in paths]
        self.names = {path.rpartition("/")[2] for place in self.places for path in place}
        self.folders = {os.path.realpath(path.parent) for path in paths} | {str(path.parent) for path in paths}

    def why(
        self, word: str, cwd: str, *, below: bool = False, folders: bool = False, real: dict[str, str] | None = None
    ) -> str:
        """Say why a path may never be touched by a tool, or nothing.

        ``below`` asks about what lies under the path too, as for a command that takes folders away, ``folders`` about
        the folder that closed files lie in. ``real`` keeps what folders really are, for as long as one command is
        looked at.
        """
        if not word or re.search(NO_NAME, word):
            return ""
        meant = expanded(word) if "$" in word or "~" in word else word
        joined = os.path.join(cwd or "/", meant)  # noqa: PTH118 - in any file system's spelling
        plain = real is not None and "/" not in meant and meant[:1] not in ("", ".")
        path = joined if plain else os.path.normpath(joined)
        facts = _facts(path)
        odd = _is_link(facts) or _is_shared(facts)
        if folders and (path in self.folders or self._unreadable(path)):
            return f"{word} holds the files of Hermes itself, which are closed to tools"
        if len(word) > 4096 or (not below and not odd and "/" not in meant and meant not in self.names):
            return ""
        behind = _behind(joined, facts, real)
        for path_as_written, kept in self.places:
            holds = below and (kept.startswith(f"{behind}/") or path_as_written.startswith(f"{path}/"))
            if kept in (behind, path) or path_as_written == path or behind.startswith(f"{kept}/") or holds:
                return f"{path_as_written.rpartition('/')[2]} belongs to Hermes itself and is closed to tools"
        if folders and behind in self.folders:
            return f"{word} holds the files of Hermes itself, which are closed to tools"
        if twin := self._twin(facts if behind == path else _facts(behind)):
            return f"it is another name of {twin.rpartition('/')[2]}, which is closed to tools"
        return ""

    def _unreadable(self, path: str) -> bool:
        """Tell whether a word names something among them, and only the shell will know what."""
        magic = re.search(_MAGIC, path)
        return magic is not None and path[: magic.start()].rpartition("/")[0] in self.folders

    def _twin(self, facts: os.stat_result | None) -> str:
        """Return the closed file that a file with several names is, if it is one."""
        if facts is None or not _is_shared(facts):
            return ""
        for path, _ in self.places:
            try:
                if os.path.samestat(os.stat(path), facts):  # noqa: PTH116
                    return path
            except OSError:
                continue
        return ""


class Opened:
    """Folders among the closed ones that a call may read; ``real`` is what they really are."""

    def __init__(self, folders: tuple[str, ...]) -> None:
        self.real = [os.path.realpath(folder) for folder in folders]

    def holds(self, path: str) -> bool:
        """Tell whether a path leads into one of them."""
        real = os.path.realpath(path)
        return any(real == folder or real.startswith(f"{folder}/") for folder in self.real)


closed = lru_cache(maxsize=8)(Closed)
opened = lru_cache(maxsize=64)(Opened)


@lru_cache(maxsize=64)
def closed_but(paths: tuple[Path, ...], folders: tuple[str, ...]) -> tuple[Path, ...]:
    """Return the closed paths but for those that the opened folders lie in."""
    free = opened(folders).real
    real = {path: os.path.realpath(path) for path in paths}
    return tuple(p for p in paths if not any(f == real[p] or f.startswith(f"{real[p]}/") for f in free))


def vital_place(word: str, cwd: str) -> str:
    """Return the name of a vital place that a path means (``/``, the home, a mount), or an empty string."""
    bare = word[: word.rfind("/") + 1] if word.endswith(("/*", "/.*", "/.")) else word
    meant = expanded("." if bare in ("*", ".*") else bare)
    if "$" in meant:  # an unset variable expands to nothing: "$DIR/" becomes "/"
        meant = re.sub(r"\$\{?\w+[^}/]*\}?", "", meant)
        if not meant.startswith("/"):
            return ""
    path = os.path.normpath(os.path.join(cwd or "/", meant))  # noqa: PTH118 - must not touch the disk
    if word.endswith("/") and not re.search(NO_NAME, word):  # a link with a slash behind it is what it leads to
        path = os.path.realpath(path)
    home = os.path.normpath(os.path.expanduser("~"))  # noqa: PTH111
    if path in ("/", "//"):
        return "the root folder"
    if path == home or home.startswith(path + "/"):
        return "your home folder"
    if path.count("/") == 1 and path != os.path.normpath(cwd or "/") and path not in ("/tmp", "/workspace"):  # noqa: S108
        return f"the system folder {path}"
    if os.path.ismount(path):
        return f"the mount {path}"
    return ""


def wide(folder: str) -> bool:
    """Tell whether a folder is too wide for work: a home, one with homes or mounts, everybody's, the system's, keys."""
    path, home = os.path.realpath(folder), os.path.realpath(os.path.expanduser("~"))  # noqa: PTH111
    if home != "/" and path.startswith(f"{home}/"):
        return bool(re.fullmatch(_OF_THE_PERSON, path[len(home) + 1 :]))
    held = path in _HOLDERS or path.rpartition("/")[0] in _HOLDERS
    return held or bool(re.fullmatch(_WIDE, path)) or f"{home}/".startswith(f"{path.rstrip('/')}/")


def expanded(word: str) -> str:
    """Return a word with ``~`` and variables as this process knows them."""
    return os.path.expandvars(os.path.expanduser(word))  # noqa: PTH111


def _behind(joined: str, facts: os.stat_result | None, real: dict[str, str] | None) -> str:
    """Return a path as the system walks it: ``..`` behind a link is above what it leads to."""
    folder, _, name = joined.rpartition("/")
    if real is None or name in ("", ".") or ".." in joined or _is_link(facts):
        return os.path.realpath(joined)
    known = real.get(folder)
    if known is None:
        known = real[folder] = os.path.realpath(folder or "/")
    return f"{known.rstrip('/')}/{name}"


def _facts(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except (OSError, ValueError):
        return None


def _is_link(facts: os.stat_result | None) -> bool:
    return facts is not None and stat.S_ISLNK(facts.st_mode)


def _is_shared(facts: os.stat_result | None) -> bool:
    return facts is not None and stat.S_ISREG(facts.st_mode) and facts.st_nlink > 1


def guarded_by(path: str, guarded: Sequence[str | Path], *, below: bool = False) -> str:
    """Return the guarded file or folder that an absolute path means or lies in, or an empty string.

    Spellings are compared in the loosest way that any file system does: without case, in one Unicode form, without
    spaces and dots at the end, without a stream. A file that exists is compared by what it is, too. With ``below``
    also what holds a guarded file, for commands that take folders away; the root holds everything and is not meant.
    """
    path = os.path.normpath(path)
    mine = [_loose(path), _loose(os.path.realpath(path))]
    identity: tuple[int, int] | None = None
    with suppress(OSError, ValueError):
        status = os.stat(path)  # noqa: PTH116
        identity = (status.st_dev, status.st_ino)
    for guard in guarded:
        names = _names_of(str(guard))
        if any(_lies_in(m, n) or (below and m != "/" and _lies_in(n, m)) for m in mine for n in names):
            return str(guard)
        if identity:
            with suppress(OSError):
                status = os.stat(guard)  # noqa: PTH116
                if identity == (status.st_dev, status.st_ino):
                    return str(guard)
    return ""


@lru_cache(maxsize=256)
def _names_of(guard: str) -> tuple[str, ...]:
    """Return a guarded path as it is written and where it led first; where it leads now is known by what is there."""
    return tuple({_loose(os.path.abspath(guard)), _loose(os.path.realpath(guard))})  # noqa: PTH100 - links are kept


def _loose(path: str) -> str:
    if path.isascii() and ":" not in path and " /" not in path and "./" not in path and not path.endswith((" ", ".")):
        return path.lower()
    import unicodedata

    names = unicodedata.normalize("NFKC", path).casefold().split("/")
    return "/".join(name.partition(":")[0].rstrip(" .") if name not in ("", ".", "..") else name for name in names)


def _lies_in(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip("/") + "/")
