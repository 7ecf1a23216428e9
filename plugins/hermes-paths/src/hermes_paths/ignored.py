"""Which files of a folder git would leave out: its ``.gitignore`` files read as git reads them, without running git."""

import os
import re
from collections.abc import Iterator, Sequence
from fnmatch import translate
from functools import lru_cache
from typing import NamedTuple

__all__ = ["Ignored"]

_LONGEST = 65_536  # bytes of a file of patterns
_MOST = 500  # patterns in one


class _Pattern(NamedTuple):
    """One line. ``parts`` are matched with those of a path below the folder that the file lies in; None: any number."""

    parts: tuple[re.Pattern[str] | None, ...]
    folders: bool
    takes_back: bool


class Ignored:
    """What ``.gitignore`` files below ``root`` name. Each is read once."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._read: dict[str, list[_Pattern]] = {}
        self._folders: dict[tuple[str, ...], bool] = {}

    def holds(self, path: str, *, folder: bool = False) -> bool:
        """Whether a path below the root is ignored; what lies in an ignored folder is, and no line takes it back."""
        if not path.startswith(f"{self._root.rstrip('/')}/"):
            return False
        parts = path[len(self._root.rstrip("/")) + 1 :].split("/")
        above = any(self._folder(tuple(parts[:end])) for end in range(1, len(parts)))
        return above or self._named(parts, folder)

    def _folder(self, parts: tuple[str, ...]) -> bool:
        if parts not in self._folders:
            self._folders[parts] = self._named(parts, True)
        return self._folders[parts]

    def _named(self, parts: Sequence[str], folder: bool) -> bool:
        for above in range(len(parts) - 1, -1, -1):  # the nearest file decides, and of its lines the last
            for one in reversed(self._patterns("/".join((self._root.rstrip("/"), *parts[:above])))):
                if (folder or not one.folders) and _fits(parts[above:], one.parts):
                    return not one.takes_back
        return False

    def _patterns(self, folder: str) -> list[_Pattern]:
        if folder not in self._read:
            self._read[folder] = list(_lines(folder))
        return self._read[folder]


def _lines(folder: str) -> Iterator[_Pattern]:
    try:
        handle = os.open(f"{folder}/.gitignore", os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return
    with os.fdopen(handle, "rb") as file:
        try:
            text = file.read(_LONGEST + 1).decode("utf-8", "surrogateescape")
        except OSError:
            return
    if len(text) > _LONGEST:
        text = text.rpartition("\n")[0]  # half a line would mean something else
    for line in text.removeprefix("\ufeff").split("\n")[:_MOST]:
        if found := _pattern(line.removesuffix("\r")):
            yield found


@lru_cache(maxsize=2048)
def _pattern(line: str) -> _Pattern | None:
    if line[:1] == "#":
        return None
    bare = line.rstrip(" ")
    line = f"{bare} " if bare.endswith("\\") and bare != line else bare
    takes_back = line[:1] == "!"
    line = line[takes_back:]
    folders, line = line.endswith("/"), line.rstrip("/")
    if not line:
        return None
    parts = line.lstrip("/").split("/")
    if "/" not in line:
        parts = ["**", *parts]
    if parts[-1] == "**":
        parts.append("*")  # what is in a folder, and not the folder
    try:
        return _Pattern(tuple(map(_matcher, parts)), folders, takes_back)
    except re.error:  # a set of signs that is none
        return None


def _matcher(part: str) -> re.Pattern[str] | None:
    return None if part == "**" else re.compile(translate(_spelled(part)))


def _spelled(part: str) -> str:
    """A part as ``fnmatch`` writes it: that has no backslashes, and another sign for not."""
    found, at = "", 0
    while at < len(part):
        if part[at] == "\\" and at + 1 < len(part):
            at += 1
            found += f"[{part[at]}]" if part[at] in "*?[" else part[at]
        else:
            found += "!" if part[at] == "^" and found[-1:] == "[" else part[at]
        at += 1
    return found


def _fits(parts: Sequence[str], pattern: Sequence[re.Pattern[str] | None]) -> bool:
    if len(pattern) == 2 and pattern[0] is None and pattern[1]:  # a name, at any depth: nearly all of them
        return bool(pattern[1].match(parts[-1]))
    reached = {0}
    for one in pattern:
        if one is None:
            reached = set(range(min(reached), len(parts) + 1))
        else:
            reached = {at + 1 for at in reached if at < len(parts) and one.match(parts[at])}
        if not reached:
            return False
    return len(parts) in reached
