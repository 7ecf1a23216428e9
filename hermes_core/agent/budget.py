"""What may still be spent: by a turn, a session, a day. Looked at before each model call.

The day is shared by all turns of a person. So that many at once do not all see the same last cent, a call flies alone
when those under way might use up what is left.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import datetime

from hermes_core.agent import usage as usages
from hermes_core.config.settings import Settings
from hermes_core.errors import BudgetReached
from hermes_core.types import Session, Usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.store.store import Store

__all__ = ["Allowance", "Budgets"]

Scope = dict[str, float]


class Budgets:
    """The limits of one kernel. ``limits`` holds those that are set: scope -> what -> how much."""

    def __init__(self, settings: Settings) -> None:
        budget, old = settings.config.budget, settings.config.agent.max_calls
        calls = old if budget.turn.calls is None else budget.turn.calls
        self.limits = {
            "turn": _set(calls, budget.turn.tokens, budget.turn.money, budget.turn.seconds),
            **{
                name: _set(limit.calls, limit.tokens, limit.money, limit.seconds)
                for name, limit in (("session", budget.session), ("day", budget.day))
            },
        }
        self._flying = 0
        self._largest: Scope = {}  # what the most expensive calls so far used
        self._landed = asyncio.Condition()

    @property
    def shared(self) -> bool:
        """Whether more than the turn itself is limited: then the store must be asked."""
        return bool(self.limits["session"] or self.limits["day"])

    async def spent(self, session: Session, store: "Store") -> dict[str, Scope]:
        """What is booked for the session, and for its owner since midnight."""
        midnight = datetime.now().astimezone().replace(hour=0, minute=0, second=0, microsecond=0).timestamp()
        of = (
            await store.spending.spent(session_id=session.id),
            await store.spending.spent(owner=session.owner, since=midnight),
        )
        return {name: _amounts(one.usage, one.seconds) for name, one in zip(("session", "day"), of, strict=True)}

    async def left(self, session: Session, store: "Store") -> dict[str, float]:
        """What is left of each limit of the session and the day, as ``day.tokens``; never below nothing."""
        spent = await self.spent(session, store)
        return {
            f"{scope}.{what}": max(0, limit - spent[scope][what])
            for scope in spent
            for what, limit in self.limits[scope].items()
        }

    def learn(self, usage: Usage) -> None:
        """See what one call used."""
        for what, amount in _amounts(usage, 0).items():
            self._largest[what] = max(amount, self._largest.get(what, 0))

    async def take_off(self, look: Callable[[], Awaitable[dict[str, Scope]]]) -> None:
        """Wait until a call may begin, whatever those under way still use. Raises BudgetReached."""
        async with self._landed:
            while True:
                spent = await look()
                if not self._flying or not any(self._close(scope, amounts) for scope, amounts in spent.items()):
                    break
                await self._landed.wait()
            self._flying += 1

    async def land(self) -> None:
        """A call is booked."""
        async with self._landed:
            self._flying -= 1
            self._landed.notify_all()

    def check(self, spent: dict[str, Scope], *, last: bool = False) -> float | None:
        """The seconds that are left, None when nothing limits them. Raises BudgetReached.

        A ``last`` call may go beyond the calls of its turn and session.
        """
        for scope, amounts in spent.items():
            for what, limit in self.limits[scope].items():
                if amounts[what] >= limit and not (last and what == "calls" and scope != "day"):
                    raise BudgetReached(scope, what, amounts[what], limit)
        left = [self.limits[s]["seconds"] - spent[s]["seconds"] for s in spent if "seconds" in self.limits[s]]
        return min(left, default=None)

    def _close(self, scope: str, amounts: Scope) -> bool:
        """Whether the calls under way could use up what is left. A first call's size is anybody's guess."""
        for what, limit in self.limits[scope].items():
            each = 1 if what == "calls" else self._largest.get(what, limit)
            if what != "seconds" and amounts[what] + self._flying * each >= limit:
                return True
        return False


class Allowance:
    """What one turn may still spend. ``used`` is what it used so far, of which ``booked`` is in the store.
    ``last`` says that only the last word is left to say."""

    def __init__(self, budgets: Budgets, session: Session, store: "Callable[[], Awaitable[Store]]") -> None:
        self._budgets, self._session, self._store = budgets, session, store
        self._began = time.monotonic()
        self.used = self.booked = Usage()
        self.last = self._flies = False
        self._until: float | None = None

    @property
    def unbooked(self) -> Usage:
        """What is not in the store yet."""
        return usages.subtract(self.used, self.booked)

    def add(self, usage: Usage) -> None:
        """One more model call was made."""
        self.used = usages.add(self.used, usage)
        self._budgets.learn(usage)

    async def check(self) -> float | None:
        """The seconds that are left, None when nothing limits them. Raises BudgetReached."""
        left = self._budgets.check(await self._spent(), last=self.last)
        self._until = None if left is None else time.monotonic() + left
        return left

    @property
    def seconds(self) -> float | None:
        """The seconds that were left by the last check and are not over yet; None when nothing limits them."""
        return None if self._until is None else max(0.0, self._until - time.monotonic())

    @asynccontextmanager
    async def call(self) -> AsyncIterator[None]:
        """Around a reply, from its first request until it is booked. Raises BudgetReached before it."""
        if not self._budgets.shared:
            await self.check()
            yield
            return

        async def look() -> dict[str, Scope]:
            spent = await self._spent()
            self._budgets.check(spent, last=self.last)
            return spent

        await self._budgets.take_off(look)
        self._flies = True
        try:
            yield
        finally:
            await asyncio.shield(self.land())

    async def land(self) -> None:
        """The call is booked, or nobody waits for it any more."""
        if self._flies:
            self._flies = False
            await self._budgets.land()

    async def _spent(self) -> dict[str, Scope]:
        spent = {"turn": _amounts(self.used, time.monotonic() - self._began)}
        if self._budgets.shared:
            loose = _amounts(self.unbooked, 0)
            for scope, amounts in (await self._budgets.spent(self._session, await self._store())).items():
                spent[scope] = {what: amount + loose[what] for what, amount in amounts.items()}
        return spent


def _set(calls: int, tokens: int, money: float, seconds: float) -> Scope:
    return {k: v for k, v in {"calls": calls, "tokens": tokens, "money": money, "seconds": seconds}.items() if v}


def _amounts(usage: Usage, seconds: float) -> Scope:
    return {"calls": usage.calls, "tokens": usage.input + usage.output, "money": usage.cost, "seconds": seconds}
