"""The SDK's own complaints: into the log of Hermes, once in a while, and never onto a person's terminal."""

import logging
import time
from collections.abc import Callable

__all__ = ["Complaints", "tell_quietly"]

_PAUSE = 600.0  # seconds between two that are told


class Complaints(logging.Handler):
    """Takes what the SDK complains about; ``heard`` is called each time, in the thread that complains."""

    def __init__(self, log: logging.Logger, clock: Callable[[], float]) -> None:
        super().__init__(logging.WARNING)
        self._log, self._clock, self._next = log, clock, 0.0
        self.heard: Callable[[], None] = lambda: None

    def emit(self, record: logging.LogRecord) -> None:
        self.heard()
        now = self._clock()
        if now < self._next:
            return
        self._next = now + _PAUSE
        self._log.warning("traces do not reach the collector: %s", record.getMessage())


def tell_quietly(log: logging.Logger, clock: Callable[[], float] = time.monotonic) -> Complaints:
    """From now on what the SDK complains about is told by ``log``."""
    sdk = logging.getLogger("opentelemetry")
    complaints = Complaints(log, clock)
    sdk.propagate, sdk.handlers[:] = False, [complaints]
    return complaints
