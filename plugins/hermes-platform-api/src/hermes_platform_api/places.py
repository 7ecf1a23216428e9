"""How many turns run at once, and that there are no more when the server ends."""

import asyncio
import contextlib

from hermes_platform_api.errors import ApiError

__all__ = ["Places"]


class Places:
    """The places of turns: ``running`` of them are taken. ``last`` says that no more are given."""

    def __init__(self, most: int) -> None:
        self._most, self.running, self.last, self._rested = most, 0, False, asyncio.Event()

    def take(self) -> None:
        """Take one. Raises ApiError where there is none."""
        if self.last:
            text = "This server is going down. Come again soon."
            raise ApiError(503, "going_down", text, headers={"retry-after": "5"})
        if self.running >= self._most:
            text = f"{self._most} turns run already. Come again soon."
            raise ApiError(429, "too_many_turns", text, headers={"retry-after": "1"})
        self.running += 1

    def give(self) -> None:
        """Give one back."""
        self.running -= 1
        self._rested.set()

    async def wait(self) -> bool:
        """Wait for one, and take it; False where none is given any more."""
        while self.running >= self._most and not self.last:
            self._rested.clear()
            await self._rested.wait()
        if not self.last:
            self.running += 1
        return not self.last

    def refuse(self) -> None:
        """Give no more: this server ends."""
        self.last = True

    async def rest(self, seconds: float) -> None:
        """Give no more, and let what runs end, for so long at most."""
        self.refuse()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self.running:
                    self._rested.clear()
                    await self._rested.wait()
