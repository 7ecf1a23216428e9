"""An event loop whose clock jumps over waiting: a retry in 30 seconds, or a server that says nothing, costs nothing.

The clock jumps only when nothing at all happens: no callback is due, no socket is ready for a moment, no thread works.
"""

import asyncio
import selectors
import time
from typing import Any

MOMENT = 0.005  # seconds a socket of this machine has to become ready before the clock jumps


class _Selector(selectors.DefaultSelector):
    loop: "JumpingLoop"

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None or timeout <= MOMENT:
            return super().select(timeout)
        ready = super().select(MOMENT)
        if ready or self.loop.threads:
            return ready
        self.loop.skipped += timeout - MOMENT
        return []


class JumpingLoop(asyncio.SelectorEventLoop):
    """``skipped`` is how many seconds the clock is ahead; ``threads`` how many jobs run in threads."""

    def __init__(self) -> None:
        self.skipped, self.threads = 0.0, 0
        selector = _Selector()
        super().__init__(selector)
        selector.loop = self

    def time(self) -> float:
        return time.monotonic() + self.skipped

    def run_in_executor(self, executor, func, *args):  # type: ignore[no-untyped-def]
        future = super().run_in_executor(executor, func, *args)
        self.threads += 1
        future.add_done_callback(self._done)
        return future

    async def shutdown_default_executor(self, *given: float | None) -> None:
        """Threads that end are waited for in a thread, with a limit: a busy machine needs its moment for that too."""
        self.threads += 1
        try:
            await super().shutdown_default_executor(*given)
        finally:
            self.threads -= 1

    def _done(self, _: object) -> None:
        self.threads -= 1
