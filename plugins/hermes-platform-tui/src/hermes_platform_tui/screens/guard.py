"""A short guard before a question: keys that were meant for something else do not answer it."""

__all__ = ["QUIET", "Guard"]

QUIET = 0.3  # seconds without a key before the first that counts


class Guard:
    """Lets a key pass once nobody has typed for ``quiet`` seconds since ``shown``: whoever is typing has not read."""

    def __init__(self, shown: float, quiet: float = QUIET) -> None:
        self._last, self._quiet = shown, quiet
        self._open = quiet <= 0

    def passes(self, instant: float) -> bool:
        """Whether a key of this instant may answer."""
        if not self._open:
            self._open = instant - self._last >= self._quiet
            self._last = max(self._last, instant)
        return self._open
