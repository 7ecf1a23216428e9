"""Watching the output of a process for words, without letting it speak too often."""

import time
from collections.abc import Callable, Sequence

__all__ = ["Watch"]

_EVERY = 15.0  # seconds between two lines that are told
_STRIKES = 3  # times that it may come more often, one after another, before it is silenced
_LONG = 300  # characters of a line that are told


class Watch:
    """Says which lines hold one of some words. One that speaks too often is silenced, which it says last."""

    def __init__(self, words: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.words = words
        self._wanted = [word.strip().casefold() for word in words.split("|") if word.strip()]
        self._clock = clock
        self._said = -_EVERY
        self._struck = self._strikes = 0
        self.silent = not self._wanted

    def see(self, lines: Sequence[str]) -> list[str]:
        """The lines to tell of, at most one in fifteen seconds."""
        told: list[str] = []
        for line in lines:
            if self.silent:
                break
            if any(word in line.casefold() for word in self._wanted):
                told += self._matched(line)
        return told

    def _matched(self, line: str) -> list[str]:
        now = self._clock()
        if now - self._said >= _EVERY:
            if not self._struck:
                self._strikes = 0
            self._said, self._struck = now, 0
            return [f"{' '.join(line.split())[:_LONG]}"]
        if not self._struck:  # once for each quarter of a minute
            self._struck, self._strikes = 1, self._strikes + 1
        if self._strikes < _STRIKES:
            return []
        self.silent = True
        return [f"(no longer watched for {self.words!r}: it came too often)"]
