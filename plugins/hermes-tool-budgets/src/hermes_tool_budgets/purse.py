"""What may still be spent: by a turn, a session, a day. Looked at before each model call.

The day is shared by all turns of a person. So that many at once do not all see the same last cent, a reply begins alone
when those under way might use up what is left: in this process, and in others, as the store says of them.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from math import inf

from attrs import evolve

from hermes_core.brokers import DocumentsBroker
from hermes_core.control import SessionsBroker
from hermes_core.errors import BudgetReached
from hermes_core.kinds import Purse
from hermes_core.types import Limits, Session, Spent, Usage
from hermes_tool_budgets.config import Config, LimitSettings
from hermes_tool_budgets.process import Process
from hermes_tool_budgets.under_way import over, under_way

__all__ = ["Budget", "reached"]

Scope = dict[str, float]
_SHARED = ("session", "day")
_FORESEEN = ("tokens", "money")  # what replies tell of the next
_KNOWN = 1_000  # sessions whose dearest reply is known at a time
_LOOK = 0.25  # seconds between two looks at what other processes have under way


class Budget(Purse):
    """The limits of one home."""

    name = "budget"

    def __init__(self, config: Config, sessions: SessionsBroker, documents: DocumentsBroker, process: Process) -> None:
        self._calls = config.turn.calls  # None: as many as usual
        self._sessions = sessions
        self._limits = {
            "turn": _set(config.turn),
            "session": _set(config.session),
            "day": _set(config.day),
        }
        self._shared = any(self._limits[scope] for scope in _SHARED)
        self._documents, self._process = documents, process
        self._flying: set[str] = set()  # turns whose reply is under way
        self._largest: Scope = {}  # what the most expensive replies so far used
        self._dearest: dict[str, Scope] = {}  # what the most expensive reply of a session used
        self._landed = asyncio.Condition()

    def limits(self, usual: Limits) -> Limits:
        """What the settings say of a turn; as many calls as usual where they say nothing of them."""
        if self._calls is None:
            self._limits["turn"]["calls"] = usual.calls
        mine = Limits(**self._limits["turn"])
        return evolve(mine.within(usual), calls=mine.calls)

    async def check(self, session: Session, spent: Spent, unbooked: Usage, *, last: bool) -> float:
        """Look at every limit, and wait for the replies under way where they might use up what is left.

        A last call may go beyond the calls of its turn and session.
        """
        if not self._shared or session.turn in self._flying:
            return self._check(session, await self._spent(session, spent, unbooked), last=last)
        async with self._landed:
            while True:
                kept = await under_way(self._documents, session.asker, self._process)
                # what this turn itself had under way, before its process died, is what it asks again now
                mine = {session.turn, *self._flying}
                others = [one for turn, one in kept.flights.items() if turn not in mine]
                known = await self._spent(session, spent, unbooked)
                left = self._check(session, known, last=last)
                if not (self._flying or others) or not any(
                    self._close(session, scope, known, others) for scope in known
                ):
                    takes = {what: self._next(session, what, known) for what in _FORESEEN}
                    if await kept.begin(session.turn, takes):
                        break
                    continue  # another process was faster
                with suppress(TimeoutError):
                    async with asyncio.timeout(_LOOK if others else None):
                        await self._landed.wait()
            self._flying.add(session.turn)
            return left

    async def landed(self, session: Session, usage: Usage) -> None:
        """A reply is stored, or nobody waits for it any more: learn what one uses, let others look again."""
        used = _amounts(usage, 0)
        for what, amount in used.items():
            self._largest[what] = max(amount, self._largest.get(what, 0))
        if usage.calls:
            before = self._dearest.pop(session.id, {})
            each = {what: amount / usage.calls for what, amount in used.items()}
            self._dearest[session.id] = {what: max(amount, before.get(what, 0)) for what, amount in each.items()}
            while len(self._dearest) > _KNOWN:
                del self._dearest[next(iter(self._dearest))]
        if session.turn in self._flying:
            try:
                await over(self._documents, session.asker, session.turn)
            finally:  # a store that fails holds up nobody here
                async with self._landed:
                    self._flying.discard(session.turn)
                    self._landed.notify_all()

    async def left(self, session: Session) -> Mapping[str, float]:
        """What is left of the session's limits and the day's."""
        if not self._shared:
            return {}
        booked = await self._booked(session)
        return {
            f"{scope}.{what}": max(0, limit - booked[scope][what])
            for scope in _SHARED
            for what, limit in self._limits[scope].items()
        }

    async def _spent(self, session: Session, spent: Spent, unbooked: Usage) -> dict[str, Scope]:
        known = {"turn": _amounts(spent.usage, spent.seconds)}
        if self._shared:
            loose = _amounts(unbooked, 0)
            for scope, amounts in (await self._booked(session)).items():
                known[scope] = {what: amount + loose[what] for what, amount in amounts.items()}
        return known

    async def _booked(self, session: Session) -> dict[str, Scope]:
        """What is stored of the session, and of who speaks in it since midnight, wherever they did."""
        midnight = datetime.now().astimezone().replace(hour=0, minute=0, second=0, microsecond=0).timestamp()
        mine = await self._sessions.spent(session.owner, session_id=session.id)
        today = await self._sessions.spent(session.asker, since=midnight)
        return {"session": _amounts(mine.usage, mine.seconds), "day": _amounts(today.usage, today.seconds)}

    def _check(self, session: Session, spent: Mapping[str, Scope], *, last: bool) -> float:
        """The seconds that are left. Raises BudgetReached, also where the next reply would go beyond a limit."""
        for scope, amounts in spent.items():
            for what, limit in self._limits[scope].items():
                if amounts[what] >= limit and not (last and what == "calls" and scope != "day"):
                    raise reached(scope, what, amounts[what], limit, calls=spent["turn"]["calls"])
                if (each := self._next(session, what, spent)) and amounts[what] + each > limit:
                    raise reached(scope, what, amounts[what], limit, each=each)
        left = [self._limits[s]["seconds"] - spent[s]["seconds"] for s in spent if "seconds" in self._limits[s]]
        return min(left, default=inf)

    def _next(self, session: Session, what: str, spent: Mapping[str, Scope]) -> float:
        """About how many tokens, or how much money, the next reply takes.

        As the dearest of its session so far, which a growing conversation soon reaches again; or as others on average.
        """
        if what not in _FORESEEN:
            return 0
        if known := self._dearest.get(session.id):
            return known[what]
        before = next((spent[scope] for scope in ("session", "day") if scope in spent and spent[scope]["calls"]), None)
        return before[what] / before["calls"] if before else 0

    def _close(
        self, session: Session, scope: str, spent: Mapping[str, Scope], others: Sequence[Mapping[str, float]]
    ) -> bool:
        """Whether the replies under way could use up what is left. A first one's size is anybody's guess."""
        for what, limit in self._limits[scope].items():
            if what == "seconds":
                continue
            each = 1 if what == "calls" else self._largest.get(what) or self._next(session, what, spent) or limit
            more = sum(1 if what == "calls" else one.get(what) or each for one in others)
            if spent[scope][what] + len(self._flying) * each + more >= limit:
                return True
        return False


def reached(scope: str, what: str, used: float, limit: float, *, calls: float = 0, each: float = 0) -> BudgetReached:
    """The error for a limit: of turn, session or day, on calls, tokens, money or seconds; ``calls`` were made so far.

    Used-up calls of a turn or a session leave one for the last words; of a day they do not. ``each`` is what the next
    reply would take, where that is too much.
    """
    of = {"turn": "This turn", "session": "This session", "day": "Today you"}[scope]
    amount = {"money": f"${used:.4f} of ${limit:g}", "seconds": f"{used:.0f} of {limit:g} seconds"}
    spent = amount.get(what, f"{used:,.0f} of {limit:,.0f} {'model calls' if what == 'calls' else what}")
    size = f"${each:.4f}" if what == "money" else f"{each:,.0f} {what}"
    more = f", and the next reply takes about {size}" if each else ""
    enough = f"{2 * max(limit, used):.4f}" if what == "money" else f"{2 * max(limit, used):.0f}"
    return BudgetReached(
        f"{of} {'have' if scope == 'day' else 'has'} used {spent} (budget.{scope}.{what}){more}.",
        hint=f"Raise it with: hermes config set budget.{scope}.{what} {enough} (0 sets no limit), then start again.",
        closing=what == "calls" and scope != "day" and calls > 0,
    )


def _set(given: LimitSettings) -> Scope:
    every = {"calls": given.calls or 0, "tokens": given.tokens, "money": given.money, "seconds": given.seconds}
    return {what: amount for what, amount in every.items() if amount}


def _amounts(usage: Usage, seconds: float) -> Scope:
    return {"calls": usage.calls, "tokens": usage.input + usage.output, "money": usage.cost, "seconds": seconds}
