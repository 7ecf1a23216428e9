"""How many turns run at once, that no one person has all of them, and that there are no more when the server ends."""

import asyncio
import contextlib
from collections import Counter

from hermes_platform_api.errors import ApiError

__all__ = ["Places", "holder_of"]


def holder_of(person: str) -> str:
    """Whose key it is that somebody comes by, who may have scopes of their own; the owner's is empty."""
    return person.partition(":")[0]


class Places:
    """The places of turns. ``last`` says that no more are given.

    Where they are ``shared`` nobody takes the last place beside all others, whatever scopes they name: so a flood of
    one person's keeps nobody else out.
    """

    def __init__(self, most: int, *, shared: bool = False) -> None:
        self._most, self._shared, self.last, self._rested = most, shared, False, asyncio.Event()
        self._of = Counter[str]()

    @property
    def running(self) -> int:
        """How many are taken."""
        return self._of.total()

    def of(self, person: str) -> int:
        """How many somebody has, by their key."""
        return self._of[holder_of(person)]

    def take(self, person: str) -> None:
        """Take one. Raises ApiError where there is none."""
        if self.last:
            text = "This server is going down. Come again soon."
            raise ApiError(503, "going_down", text, headers={"retry-after": "5"})
        if self.running >= self._most or (self._shared and self.of(person) >= max(1, self._most - 1)):
            text = "As many turns run already as may. Come again soon."
            raise ApiError(429, "too_many_turns", text, headers={"retry-after": "1"})
        self._of[holder_of(person)] += 1

    def give(self, person: str) -> None:
        """Give one back."""
        self._of[holder_of(person)] -= 1
        self._rested.set()

    async def wait(self, person: str) -> bool:
        """Wait for one, and take it; False where none is given any more."""
        while self.running >= self._most and not self.last:
            self._rested.clear()
            await self._rested.wait()
        if not self.last:
            self._of[holder_of(person)] += 1
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
