"""The end of what stands still."""

import asyncio
from types import TracebackType
from typing import Self

__all__ = ["Idle"]


class Idle:
    """Ends what runs inside it with TimeoutError once nothing has moved for ``seconds``."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._loop = asyncio.get_running_loop()
        self._last = self._loop.time()
        self._bound = asyncio.timeout(seconds)

    def touch(self) -> None:
        """Say that something moved. Cheap: the clock is set anew at every tenth of the time only."""
        now = self._loop.time()
        if now - self._last > self._seconds / 10:
            self._last = now
            self._bound.reschedule(now + self._seconds)

    async def __aenter__(self) -> Self:
        await self._bound.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._bound.__aexit__(kind, error, trace)
