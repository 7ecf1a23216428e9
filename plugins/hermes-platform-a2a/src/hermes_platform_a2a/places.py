"""Room for turns: so many at once, and those of one conversation one after the other."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

__all__ = ["Place", "Places"]


class Place:
    """Room for one turn. Whoever waits for a client gives it back meanwhile."""

    def __init__(self, free: asyncio.Semaphore) -> None:
        self._free, self._held = free, False

    async def take(self) -> None:
        """Wait until there is room."""
        if not self._held:
            await self._free.acquire()
            self._held = True

    def give(self) -> None:
        """Let another turn run."""
        if self._held:
            self._held = False
            self._free.release()


class Places:
    """So many turns at once, and those of one conversation one after the other."""

    def __init__(self, most: int) -> None:
        self._free = asyncio.Semaphore(max(1, most))
        self._sessions: dict[str, tuple[asyncio.Lock, int]] = {}

    @asynccontextmanager
    async def turn(self, session: str) -> AsyncIterator[Place]:
        """Wait for one."""
        lock, many = self._sessions.get(session, (asyncio.Lock(), 0))
        self._sessions[session] = lock, many + 1
        place = Place(self._free)
        try:
            async with lock:
                await place.take()
                yield place
        finally:
            place.give()
            lock, many = self._sessions.pop(session)
            if many > 1:
                self._sessions[session] = lock, many - 1
