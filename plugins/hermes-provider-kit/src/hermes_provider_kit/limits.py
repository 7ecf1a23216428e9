"""Which keys and logins rest because their service said so: known to every process of a home before it asks.

One small file for each that rests, named by a fingerprint; where none rests, a look costs one question to the file
system. Who is at work with a key holds a lock that ends with the process, however that ends.
"""

import json
import math
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path

from hermes_atomic.whole import Busy, held, replace

__all__ = ["Limits", "mark_of"]

_LONGEST = 86_400.0  # seconds; what a service says beyond is not believed for longer
_HEARD = 60.0  # seconds; services name the end of the whole window, and let the next request through sooner
_SHORTEST = 0.5  # seconds that are not worth telling others


def mark_of(*parts: str) -> str:
    """Return the name of a key or a login, which gives nothing of it away."""
    return sha256("\0".join(("hermes limit", *parts)).encode()).hexdigest()[:20]


class Limits:
    """What is known in one home. ``folder`` is made when there is something to keep; what fails costs one more try."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def left(self, mark: str) -> float:
        """Return for how many seconds a key rests still; 0 where it does not."""
        try:
            with (self._folder / f"{mark}.json").open("rb") as file:
                until = json.loads(file.read(1024))["until"]
            good = isinstance(until, int | float) and not isinstance(until, bool) and math.isfinite(until)
        except (OSError, ValueError, OverflowError, TypeError, KeyError, RecursionError):
            return 0.0
        left = until - time.time() if good else 0.0
        return left if _SHORTEST < left <= _LONGEST else 0.0

    def rest(self, mark: str, seconds: float | None) -> None:
        """Have a key left alone for as long as its service said; where it said nothing, nobody is told.

        What was said to last longer stays: replies that were under way then end with less.
        """
        if seconds is None or not seconds > max(_SHORTEST, self.left(mark)):
            return
        said = json.dumps({"until": time.time() + min(seconds, _LONGEST)}).encode()
        with suppress(OSError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            replace(self._folder / f"{mark}.json", said, sync=False)

    def free(self, mark: str) -> None:
        """Forget that a key rests."""
        with suppress(OSError):
            (self._folder / f"{mark}.json").unlink()

    def free_all(self) -> None:
        """Forget all of them: a person has more of their plan now, or does not believe it."""
        for path in self._folder.glob("*.json"):
            self.free(path.stem)

    @contextmanager
    def lease(self, mark: str) -> Iterator[bool]:
        """Work with a key until the block ends; whether nobody else does, in any process of this home."""
        holding = held(self._folder / f"{mark}.lock", seconds=-1)
        try:
            holding.__enter__()
        except (Busy, OSError):
            yield False
            return
        try:
            yield True
        finally:
            holding.__exit__(None, None, None)

    def hear(self, mark: str, headers: Mapping[str, str]) -> None:
        """Have a key rest whose service says, with an answer, that it is used up (``x-ratelimit-remaining-…: 0``)."""
        from hermes_provider_kit.failures.waiting import used_up

        if any("ratelimit" in name for name in headers):
            seconds = used_up(headers)
            self.rest(mark, None if seconds is None else min(seconds, _HEARD))
