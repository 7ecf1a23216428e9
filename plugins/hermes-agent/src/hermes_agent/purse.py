"""What many turns may use together, over deaths as well: none of them is given what another may still use."""

import asyncio
import math
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import attrs

from hermes_core.embed import Hermes
from hermes_core.errors import BudgetReached, UserError
from hermes_core.types import Principal, TurnBounds

__all__ = ["Purse"]

_NAMES = ("calls", "tokens", "money")
_WHOLE = ("calls", "tokens")


class Purse:
    """Gives each turn a part of what is left of ``bounds``, and takes back what it did not use."""

    def __init__(self, hermes: Hermes, owner: Principal, bounds: TurnBounds, at_once: int) -> None:
        """Make one. Raises UserError for a bound in seconds, which turns side by side cannot share, or that is none."""
        if bounds.seconds:
            raise UserError("A budget has no seconds.", hint="Bound calls, tokens or money.")
        for name in _NAMES:
            if not 0 <= getattr(bounds, name) < math.inf:  # nan would be no bound at all
                raise UserError(f"A budget of {getattr(bounds, name)} {name} is none.", hint="0 sets no bound.")
        self._hermes, self._owner, self._bounds, self._at_once = hermes, owner, bounds, at_once
        self._left = {name: float(getattr(bounds, name)) for name in _NAMES if getattr(bounds, name)}
        self._running = 0
        self._back = asyncio.Condition()

    async def count(self, sessions: list[str]) -> None:
        """Take out what turns in sessions used before: those of this batch, in an earlier process."""
        for session in sessions if self._left else ():
            for name, used in (await self._used(session)).items():
                self._left[name] -= used

    @asynccontextmanager
    async def share(self, session: str) -> AsyncGenerator[TurnBounds]:
        """Give the bounds of a turn; while others run that may leave something, wait. Raises BudgetReached."""
        async with self._back:
            while (given := self._given()) is None and self._running:
                await self._back.wait()
            if given is None:
                name = next(one for one in self._left if self._part(one) <= 0)
                raise BudgetReached(f"The budget of {name} is used up.", hint="Give more, and run it again.")
            self._running += 1
            for name, part in given.items():
                self._left[name] -= part
        before = await self._used(session) if given else {}
        amounts: dict[str, Any] = {name: int(part) if name in _WHOLE else part for name, part in given.items()}
        try:
            yield attrs.evolve(self._bounds, **amounts)
        finally:
            used = await self._used(session) if given else {}
            async with self._back:
                self._running -= 1
                for name, part in given.items():
                    self._left[name] += part - (used[name] - before[name])
                self._back.notify_all()

    def _given(self) -> dict[str, float] | None:
        parts = {name: self._part(name) for name in self._left}
        return None if any(part <= 0 for part in parts.values()) else parts

    def _part(self, name: str) -> float:
        left = self._left[name]
        part = left / max(1, self._at_once - self._running)
        return max(min(1, math.floor(left)), math.floor(part)) if name in _WHOLE else part

    async def _used(self, session: str) -> dict[str, float]:
        used = (await self._hermes.sessions.spent(self._owner, session_id=session)).usage
        found = {"calls": float(used.calls), "tokens": float(used.input + used.output), "money": float(used.cost)}
        return {name: found[name] for name in self._left}
