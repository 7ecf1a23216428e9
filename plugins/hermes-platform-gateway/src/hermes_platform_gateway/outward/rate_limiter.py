"""How fast an account may speak: who was told to wait, waits, and nobody else."""

import random
import time
from collections.abc import Callable

__all__ = ["RateLimiter"]

LONGEST_WAIT = 60.0  # seconds between two tries that nobody asked to be apart


class RateLimiter:
    """The pauses of one account, by chat. ``clock`` gives seconds since 1970."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._until: dict[str, float] = {}  # chat -> when it may go on; "" is the whole account
        self._failures: dict[object, int] = {}

    def pause(self, chat: str, seconds: float, *, everywhere: bool = False) -> None:
        """Keep a chat, or the whole account, silent for some time."""
        name = "" if everywhere else chat
        self._until[name] = max(self._until.get(name, 0.0), self._clock() + seconds)

    def left(self, chat: str) -> float:
        """Seconds until a chat may go on; 0 when it may."""
        now = self._clock()
        self._until = {name: until for name, until in self._until.items() if until > now}
        return max((self._until.get(name, now) - now for name in ("", chat)), default=0.0)

    def backoff(self, what: object) -> float:
        """Seconds to wait before something is tried again: twice as long each time, and never the same for two."""
        failures = self._failures[what] = self._failures.get(what, -1) + 1
        return min(LONGEST_WAIT, 2.0 ** min(failures, 10)) * random.uniform(0.5, 1.0)  # noqa: S311 - jitter, not a secret

    def went_well(self, what: object) -> None:
        """Forget how often something failed."""
        self._failures.pop(what, None)
