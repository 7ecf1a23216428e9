"""A search through a conversation."""

from collections.abc import Iterable, Sequence

from attrs import evolve

from hermes_core.values import frozen
from hermes_platform_tui.transcript.entries import Entry

__all__ = ["Hunt", "SearchState"]

STEP = 60  # entries that are looked through at once
_MOST = 5_000  # hits in so many entries


@frozen(kw_only=True)
class SearchState:
    """What is looked for, how often it is there, and which hit is shown, from 1 at the top; 0 when there is none.

    ``looking``: older messages are still being read.
    """

    words: str = ""
    hits: int = 0
    at: int = 0
    looking: bool = False


class Hunt:
    """The hits, in order from the top: an entry, and which of the hits in it.

    Entries are looked through from the end, a few at a time: a long conversation holds megabytes.
    """

    def __init__(self) -> None:
        self.state = SearchState()
        self.hits: list[tuple[Entry, int]] = []
        self._left: list[Entry] = []  # entries that were not looked through yet, in order

    def begin(self, words: str, entries: Iterable[Entry]) -> None:
        """Look for words; the last hit is the current one."""
        self._left = list(entries) if words.strip() else []
        self.hits = []
        self.state = SearchState(words=words)
        self.go_on()
        self.state = evolve(self.state, at=len(self.hits))

    def extend(self, older: Sequence[Entry]) -> None:
        """Older messages were read."""
        if self.state.words.strip():
            self._left[:0] = older

    def go_on(self) -> bool:
        """Look through some more; whether any were left."""
        some = self._left[-STEP:]
        del self._left[-STEP:]
        found = _hits(self.state.words, some)
        self.hits[:0] = found
        at = self.state.at + len(found) if self.state.at else len(found)
        self.state = evolve(self.state, hits=len(self.hits), at=at, looking=bool(self._left))
        return bool(some)

    def step(self, by: int) -> None:
        """Go on to another hit; after the last comes the first."""
        if self.hits:
            self.state = evolve(self.state, at=(self.state.at - 1 + by) % len(self.hits) + 1)

    @property
    def current(self) -> tuple[Entry, int] | None:
        """The hit to show."""
        return self.hits[self.state.at - 1] if self.state.at else None


def _hits(words: str, entries: Iterable[Entry]) -> list[tuple[Entry, int]]:
    wanted = words.casefold()
    if not wanted.strip():
        return []
    found: list[tuple[Entry, int]] = []
    for entry in entries:
        lines = entry.words().casefold().split("\n")
        found += [(entry, number) for number in range(sum(wanted in line for line in lines))]
    return found[-_MOST:]
