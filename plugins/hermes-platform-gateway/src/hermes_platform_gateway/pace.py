"""How fast messages of one sender are taken in: a burst at once, and then so that others get most of the time."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from attrs import field

from hermes_core.values import define

__all__ = ["Pace"]

_MOST = 10_000  # names of which something is known
_SHARE = 8  # times as long as one message took nothing more of its sender is taken


@define
class _Known:
    """When all that came would have been done, so many a second; and how long the last one took."""

    until: float = field(default=0.0)
    took: float = field(default=0.0)


class Pace:
    """Spreads what comes under a name, so that what comes under others is done in between.

    After a ``burst`` it is no more than so many ``a_second``, and less the slower this machine is at the time.
    """

    def __init__(self, burst: int, a_second: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._burst, self._step, self._clock = burst, 1 / a_second, clock
        self._known: dict[str, _Known] = {}

    def wait(self, name: str) -> float:
        """Count one more; the seconds until it is its turn."""
        now, known = self._clock(), self._known.pop(name, None) or _Known()
        known.until = max(now, known.until) + self._step
        self._known[name] = known
        if len(self._known) > _MOST:
            del self._known[next(iter(self._known))]
        left = known.until - now - self._burst * self._step
        return max(left, _SHARE * known.took) if left > 0 else 0.0

    @contextmanager
    def taking(self, name: str) -> Iterator[None]:
        """Note how long it takes."""
        began = self._clock()
        try:
            yield
        finally:
            if known := self._known.get(name):
                known.took = self._clock() - began
