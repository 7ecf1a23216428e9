"""Which of many paths a person means by a few letters of one."""

import heapq
import re
from collections.abc import Iterable, Iterator, Sequence

MOST = 50
_ENOUGH = 5_000  # matches that are compared; a few letters that fit more are too few to go by


class Entries:
    """The files of a folder and the folders they lie in, which end with a slash; made once, searched often.

    Names that no line can hold, or no quote, are left out: they could not be typed.
    """

    def __init__(self, names: Sequence[str]) -> None:
        files = [name for name in set(names) if name.isprintable() and '"' not in name]
        folders: set[str] = set()
        for name in files:
            at = name.rfind("/")
            while at > 0 and name[: at + 1] not in folders:
                folders.add(name[: at + 1])
                at = name.rfind("/", 0, at)
        self.folders = sorted(folders)
        self.files = sorted(files)
        self._lower = [(path.casefold(), path) for path in (*self.folders, *self.files)]
        self._folders = len(self.folders)

    def paths(self, *, files: bool) -> Sequence[tuple[str, str]]:
        """All of them without case and as they are."""
        return self._lower if files else self._lower[: self._folders]


def ranked(entries: Entries, value: str, *, files: bool = True, most: int = MOST) -> list[str]:
    """The likeliest paths: those that begin so, then those with a name that does, then those that hold it."""
    paths, wanted = entries.paths(files=files), value.removeprefix("./").casefold()
    if not wanted or wanted.endswith("/"):
        inner = [path for lower, path in paths if lower.startswith(wanted) and _is_child(lower, wanted)]
        return inner[:most]
    found = heapq.nsmallest(most, ((_weight(lower, wanted), path) for lower, path in _holding(paths, wanted)))
    chosen = [path for _, path in found]
    if len(chosen) < most and len(wanted) > 1:
        known = set(chosen)
        loose = ((len(lower), path) for lower, path in _scattered(paths, wanted) if path not in known)
        chosen += [path for _, path in heapq.nsmallest(most - len(chosen), loose)]
    return chosen


def _holding(paths: Iterable[tuple[str, str]], wanted: str) -> Iterator[tuple[str, str]]:
    return (pair for pair in paths if wanted in pair[0])


def _scattered(paths: Iterable[tuple[str, str]], wanted: str) -> Iterator[tuple[str, str]]:
    """Paths that hold the letters in this order, with others between them."""
    pattern = re.compile("".join(f"[^{re.escape(c)}]*{re.escape(c)}" for c in wanted[:40]))
    count = 0
    for pair in paths:
        if pattern.match(pair[0]):
            count += 1
            yield pair
            if count >= _ENOUGH:
                return


def _weight(lower: str, wanted: str) -> tuple[int, int]:
    name = lower.rstrip("/").rpartition("/")[2]
    if lower.startswith(wanted):
        return 0, lower.count("/") * 1_000 + len(lower)
    if name.startswith(wanted):
        return 1, len(lower)
    return (2 if wanted in name else 3), len(lower)


def _is_child(lower: str, folder: str) -> bool:
    rest = lower[len(folder) :].rstrip("/")
    return bool(rest) and "/" not in rest
