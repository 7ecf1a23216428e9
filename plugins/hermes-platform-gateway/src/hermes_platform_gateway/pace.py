"""How fast messages of one sender are taken in: a burst at once, then so many a second."""

import time
from collections.abc import Callable

__all__ = ["Pace"]

_MOST = 10_000  # names of which something is known


class Pace:
    """Spreads what comes under a name, so that what comes under others is done in between."""

    def __init__(self, burst: int, a_second: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._burst, self._step, self._clock = burst, 1 / a_second, clock
        self._until: dict[str, float] = {}  # when all that came would have been done, one after another

    def wait(self, name: str) -> float:
        """Count one more; the seconds until it is its turn."""
        now = self._clock()
        until = max(now, self._until.pop(name, now)) + self._step
        self._until[name] = until
        if len(self._until) > _MOST:
            del self._until[next(iter(self._until))]
        return max(0.0, until - now - self._burst * self._step)
