"""What a turn uses, with all that works for it, held against what it was given and what purses leave it."""

import asyncio
import time
from collections.abc import Callable, Iterable
from functools import partial, reduce
from math import inf
from typing import Any

from attrs import evolve

from hermes_core.agent import usage as usages
from hermes_core.agent.bounds import limits_of
from hermes_core.agent.runtime import Runtime
from hermes_core.agent.session_state import SessionState
from hermes_core.errors import BoundReached, HermesError, PluginError
from hermes_core.kinds import Purse
from hermes_core.plugins.fence import Call, fenced
from hermes_core.types import Limits, Spent, TurnBounds, Usage

__all__ = ["Meter"]


class Meter:
    """Counts for one turn: what is ``booked`` in the store, and ``unbooked`` yet.

    ``last`` says that only the last word is left to say; ``above`` is the meter of the turn that it works for.
    """

    def __init__(
        self, runtime: Runtime, state: SessionState, bounds: TurnBounds | None, above: "Meter | None" = None
    ) -> None:
        """Refuse to begin without a purse that should be there: raises PluginError."""
        self._runtime, self._state, self._above = runtime, state, above
        self._purses, agent, given = runtime.purses(), runtime.settings.config.agent, limits_of(bounds)
        limits = Limits(calls=agent.max_calls)
        for label, purse in self._purses:
            try:
                limits = purse.limits(limits).within(Limits())
            except Exception as error:
                raise self._fault(label, error) from error
        self._limits, self._began, self._until = limits.within(given), time.monotonic(), inf
        self.given_seconds = None if given.seconds == inf else given.seconds
        self.booked = self.unbooked = Usage()
        self.last = False
        self.running: dict[str, Callable[[], Usage]] = {}  # not booked yet: session id -> what its turn used so far
        self.places = asyncio.Semaphore(agent.tool_workers)
        if above:
            above.running[state.session.id] = lambda: self.total

    @property
    def used(self) -> Usage:
        """What the turn used itself, and what is booked of those at work for it."""
        return usages.add(self.booked, self.unbooked)

    @property
    def total(self) -> Usage:
        """What was used by everyone together."""
        return reduce(usages.add, (used() for used in self.running.values()), self.used)

    def add(self, usage: Usage) -> None:
        """Count one more model call."""
        self.unbooked = usages.add(self.unbooked, usage)

    def book(self, usage: Usage | None = None) -> None:
        """Take note that what was not booked is in the store now, or ``usage`` besides."""
        self.booked = usages.add(self.booked, usage or self.unbooked)
        self.unbooked = self.unbooked if usage else Usage()

    def take(self, sessions: Iterable[str]) -> Usage:
        """Take what turns used that worked for this one; it is its own from now on."""
        ended = (self.running.pop(session) for session in sessions if session in self.running)
        return reduce(usages.add, (used() for used in ended), Usage())

    @property
    def seconds(self) -> float | None:
        """The seconds that were left by the last check and are not over yet; None when nothing limits them."""
        return None if self._until == inf else max(0.0, self._until - time.monotonic())

    async def left(self) -> Limits:
        """Return what is left for all together: of the turn, and of what purses limit beyond it. Raises HermesError."""
        left = self._left
        for label, purse in self._purses:
            for name, amount in (await self._said(label, partial(purse.left, self._state.session))).items():
                left = left.within(Limits(**{name.rpartition(".")[2]: amount}))
        return left

    @property
    def _left(self) -> Limits:
        return self._limits.after(self.total, time.monotonic() - self._began)

    async def check(self) -> None:
        """Look whether there may be one more request. Raises BudgetReached."""
        spent, left = Spent(usage=self.used, seconds=time.monotonic() - self._began), [inf]
        for label, purse in self._purses:
            left.append(await self._said(label, partial(self._seconds, purse, spent)))
        self._until = time.monotonic() + min(left)

    async def _seconds(self, purse: Purse, spent: Spent) -> float:
        seconds = await purse.check(self._state.session, spent, self.unbooked, last=self.last)
        if not seconds >= 0:  # also what is no number
            raise ValueError(f"{seconds} seconds for a request")
        return seconds

    async def check_step(self) -> None:
        """Look whether there may be one more reply. Raises BudgetReached, BoundReached."""
        await self.check()
        self._check_above(calls=False)
        if what := self._limits.after(self.used, 0).exhausted:
            raise BoundReached(f"This turn has used all the {what} that it was given.", closing=True)
        self._check_above()

    def _check_above(self, *, calls: bool = True) -> None:
        if self._above:
            left = self._above._left
            if what := (left if calls else evolve(left, calls=inf)).exhausted:
                raise BoundReached(f"No {what} was left for it.")
            self._above._check_above(calls=calls)

    async def check_last(self, reached: BoundReached) -> None:
        """Go on to the last word. Raises what was ``reached`` where there is none, BudgetReached."""
        if not reached.closing or self._limits.after(evolve(self.used, calls=0), 0).exhausted:
            raise reached
        self.last = True
        await self.check()

    async def _said(self, label: str, ask: Call) -> Any:
        """Return what a purse says. Raises what it raises, PluginError for what is its fault."""
        answer, error = await fenced(ask, self._runtime.dispatch.entered(label, "purse"))
        if error:
            raise error if isinstance(error, HermesError) else self._fault(label, error)
        return answer

    def _fault(self, label: str, error: BaseException) -> PluginError:
        self._runtime.dispatch.failed(label, "purse", error)
        return PluginError(label, "could not say what may be spent", hint=f"hermes plugins disable {label}")
