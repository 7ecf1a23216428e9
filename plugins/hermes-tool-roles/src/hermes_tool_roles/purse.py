"""What each person may still spend today, in all places together. Looked at before each model call.

A call is written down as under way before it leaves, in the store. So turns that run side by side, in whatever
processes, do not all spend the same rest, and one whose process dies has spent until somebody knows better.
"""

import asyncio
import time
from collections.abc import Mapping
from math import inf
from typing import TYPE_CHECKING

from hermes_core.brokers import DocumentsBroker
from hermes_core.errors import BudgetReached, Conflict
from hermes_core.kinds import Purse
from hermes_core.types import JSON, Principal, Session, Spent, Usage
from hermes_tool_roles.accounts import Account, Accounts
from hermes_tool_roles.config import BLOCKED, OWNER, RoleSettings
from hermes_tool_roles.hours import midnight
from hermes_tool_roles.rights import HomeRoles

if TYPE_CHECKING:
    from hermes_core.control import SessionsBroker

__all__ = ["PersonsDay"]

Amounts = dict[str, float]
_FLYING = "under way"  # the document of who pays: turn -> what its call may take, and until when that is believed
_LASTS = 1_800.0  # seconds after which a call whose end nobody told is over: longer than any reply takes
_FIRST, _LONGEST = 0.02, 0.5  # seconds between two looks
_KNOWN = 1_000


class PersonsDay(Purse):
    """The day of each person, by what their role says."""

    name = "person"

    def __init__(
        self,
        roles: HomeRoles,
        accounts: Accounts,
        sessions: "SessionsBroker",
        documents: DocumentsBroker,
        host: Principal,
    ) -> None:
        self._roles, self._accounts, self._sessions = roles, accounts, sessions
        self._documents, self._host = documents, host
        self._payers: dict[str, Principal] = {}  # of the turns whose call is under way here
        self._last: dict[Principal, Amounts] = {}  # what the last reply to somebody used

    async def check(self, session: Session, spent: Spent, unbooked: Usage, *, last: bool) -> float:
        """Look what is left of the day, and wait for calls under way where they might use it up. See Purse."""
        limits, name, role, account = await self._limits(session)
        if not limits or account is None:
            return inf
        pause = _FIRST
        while True:
            kept = await self._documents.get(_FLYING, owner=account.payer)
            flying = _believed(kept.value if kept else None)
            mine = flying.pop(session.turn, None)
            used = await self._used(account, role, unbooked)
            each = self._next(account.payer, used)
            self._refuse_over(used, each, limits, name, role)
            if self._fits(used, each, limits, flying):
                if mine is None and not await self._begin(session.turn, account.payer, each, flying, kept):
                    continue  # somebody was faster
                self._payers[session.turn] = account.payer
                return inf
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST)

    async def landed(self, session: Session, usage: Usage | None = None) -> None:
        """A reply is stored, or nobody waits for it any more: let others look again."""
        if payer := self._payers.pop(session.turn, None):
            if usage and usage.calls:
                self._last.pop(payer, None)
                self._last[payer] = {what: n / usage.calls for what, n in _amounts(usage).items()}
                while len(self._last) > _KNOWN:
                    del self._last[next(iter(self._last))]
            await self._documents.change(_FLYING, lambda old: _without(old, session.turn), owner=payer)

    async def left(self, session: Session) -> Mapping[str, float]:
        """What is left of the day of who speaks."""
        limits, _, role, account = await self._limits(session)
        if not limits or account is None:
            return {}
        used = await self._used(account, role, Usage())
        return {f"person.day.{what}": max(0, limit - used[what]) for what, limit in limits.items()}

    async def _limits(self, session: Session) -> tuple[Amounts, str, RoleSettings, Account | None]:
        """What binds a turn, by which role, and whom it counts for; nothing where nothing binds."""
        name, asker = self._roles.name_of(session.owner, session.speaker), session.asker
        role = self._roles.role(OWNER if name in (OWNER, BLOCKED) else name)
        stranger = "#" in asker.person or (session.speaker is not None and not session.speaker.named)
        if name in (OWNER, BLOCKED) or not (stranger or _set(role)):  # who is blocked is refused before anything else
            return {}, name, role, None
        account = await self._accounts.of(session)
        if account.payer == asker:
            return _set(role), name, role, account
        return *self._day(account.payer, role, _set(role), name), account

    def _day(
        self, payer: Principal, role: RoleSettings, limits: Amounts, name: str
    ) -> tuple[Amounts, str, RoleSettings]:
        """The day of who pays for a stranger; a group that nobody opened has that of a stranger."""
        if "#" in payer.person:
            return limits, name, role
        name = self._roles.name_of(payer, None)
        role = self._roles.role(OWNER if name in (OWNER, BLOCKED) else name)
        return {**limits, **_set(role)}, name, role

    async def _used(self, account: Account, role: RoleSettings, unbooked: Usage) -> Amounts:
        """What is stored of today, of all whose words count, and what the turn has not stored yet."""
        since, total = midnight(self._roles.moment(role)), _amounts(unbooked)
        for one in dict.fromkeys((account.payer, *account.others)):
            today = await self._sessions.spent(one, since=since)
            total = {what: n + total[what] for what, n in _amounts(today.usage).items()}
        return total

    def _next(self, payer: Principal, used: Amounts) -> Amounts:
        """About what the next reply takes: as the last, or as today's on average; only a call where nobody knows."""
        known = self._last.get(payer)
        if known is None and used["calls"]:
            known = {what: n / used["calls"] for what, n in used.items()}
        return {**(known or {}), "calls": 1}

    def _refuse_over(self, used: Amounts, each: Amounts, limits: Amounts, name: str, role: RoleSettings) -> None:
        """Raise BudgetReached where a limit is reached, or the next reply would pass it."""
        for what, limit in limits.items():
            more = 0 if what == "calls" else each.get(what, 0)
            if used[what] >= limit or used[what] + more > limit:
                amount = f"${used[what]:.4f} of ${limit:g}" if what == "money" else f"{used[what]:,.0f} of {limit:,.0f}"
                unit = {"money": "", "calls": " model calls", "tokens": " tokens"}[what]
                raise BudgetReached(
                    f"Today you have used {amount}{unit}, which is what the role {name} has a day, in all places.",
                    hint=f"It begins anew at midnight{f' ({role.zone})' if role.zone else ''}.",
                )

    def _fits(self, used: Amounts, each: Amounts, limits: Amounts, flying: Mapping[str, Amounts]) -> bool:
        """Whether one more call may leave, beside those under way; one whose size nobody knows leaves alone."""
        return not flying or all(
            used[what] + sum(one.get(what, limit) for one in flying.values()) + each.get(what, limit) <= limit
            for what, limit in limits.items()
        )

    async def _begin(
        self,
        turn: str,
        payer: Principal,
        each: Amounts,
        flying: Mapping[str, Amounts],
        kept: object,
    ) -> bool:
        """Write a call down as under way, over what was read; False where that is another by now."""
        takes: Amounts = {**each, "until": time.time() + _LASTS}
        value: dict[str, JSON] = {**{name: dict(one) for name, one in flying.items()}, turn: dict(takes)}
        try:
            await self._documents.put(_FLYING, value, version=getattr(kept, "version", 0), owner=payer)
        except Conflict:
            return False
        return True


def _set(role: RoleSettings) -> Amounts:
    every = {"calls": role.day.calls, "tokens": role.day.tokens, "money": role.day.money}
    return {what: amount for what, amount in every.items() if amount}


def _amounts(usage: Usage) -> Amounts:
    return {"calls": usage.calls, "tokens": usage.input + usage.output, "money": usage.cost}


def _believed(value: JSON | None) -> dict[str, Amounts]:
    """The calls under way, as they were written down; what was not taken back in time is over."""
    known = value.items() if isinstance(value, Mapping) else ()
    found = {
        turn: {what: float(n) for what, n in one.items() if isinstance(n, int | float)}
        for turn, one in known
        if isinstance(one, Mapping)
    }
    return {turn: one for turn, one in found.items() if one.get("until", 0) > time.time()}


def _without(old: JSON | None, turn: str) -> JSON | None:
    left: dict[str, JSON] = {name: dict(one) for name, one in _believed(old).items() if name != turn}
    return left or None
