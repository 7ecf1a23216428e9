"""What a turn uses, with all that works for it, held against what it was given and what purses leave it."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from functools import partial, reduce
from math import inf
from typing import Any

from attrs import evolve

from hermes_core.agent import usage as usages
from hermes_core.agent.bounds import limits_of
from hermes_core.agent.live import Live
from hermes_core.agent.parts import Parts
from hermes_core.errors import BoundReached, HermesError, PluginError
from hermes_core.kinds import Purse
from hermes_core.plugins.fence import fenced
from hermes_core.types import Limits, Spent, TurnBounds, Usage

__all__ = ["Meter"]


class Meter:
    """Counts for one turn. ``used`` is what it used so far, of which ``booked`` is in the store.

    ``last`` says that only the last word is left to say; ``above`` is the meter of the turn that it works for.
    """

    def __init__(
        self, parts: Parts, live: Live, bounds: TurnBounds | None = None, above: "Meter | None" = None
    ) -> None:
        """Raises PluginError when a purse that should be there is not."""
        self._parts, self._live, self._above = parts, live, above
        self._purses = parts.purses()
        agent, given = parts.settings.config.agent, limits_of(bounds)
        limits = Limits(calls=agent.max_calls)
        for _, purse in self._purses:
            limits = purse.limits(limits)
        self._limits = limits.within(given)
        self.given_seconds = None if given.seconds == inf else given.seconds
        self._began, self._until = time.monotonic(), inf
        self.used = self.booked = Usage()
        self.last = False
        self._begun: list[tuple[str, Purse]] = []
        self.running: dict[str, Callable[[], Usage]] = {}  # not booked yet: session id -> what its turn used so far
        self.places = asyncio.Semaphore(agent.tool_workers)
        if above:
            above.running[live.session.id] = lambda: self.total

    # --- what was used --------------------------------------------------------------------------------------------

    @property
    def unbooked(self) -> Usage:
        """What is not in the store yet."""
        return usages.subtract(self.used, self.booked)

    @property
    def total(self) -> Usage:
        """What was used by everyone together."""
        return reduce(usages.add, (used() for used in self.running.values()), self.used)

    def add(self, usage: Usage) -> None:
        """One more model call was made."""
        self.used = usages.add(self.used, usage)

    def book(self, usage: Usage) -> None:
        """Count what others used for it, as it is stored now."""
        self.used, self.booked = usages.add(self.used, usage), usages.add(self.booked, usage)

    def take(self, sessions: Iterable[str]) -> Usage:
        """What turns used that worked for this one; it is its own from now on."""
        ended = (self.running.pop(session) for session in sessions if session in self.running)
        return reduce(usages.add, (used() for used in ended), Usage())

    # --- what is left ---------------------------------------------------------------------------------------------

    @property
    def seconds(self) -> float | None:
        """The seconds that were left by the last check and are not over yet; None when nothing limits them."""
        return None if self._until == inf else max(0.0, self._until - time.monotonic())

    async def left(self) -> Limits:
        """What is left for everyone together: of the turn, and of what purses limit beyond it. Raises HermesError."""
        left = self._left
        for label, purse in self._purses:
            known = await self._ask(label, purse.left(self._live.session))
            for name, amount in known.items():
                left = left.within(Limits(**{name.rpartition(".")[2]: amount}))
        return left

    @property
    def _left(self) -> Limits:
        return self._limits.after(self.total, time.monotonic() - self._began)

    async def check_step(self) -> None:
        """Look whether there may be one more reply. Raises BudgetReached, BoundReached."""
        await self.check()
        self._check_above(calls=False)
        if what := self._limits.after(self.used, 0).exhausted:
            raise BoundReached(f"This turn has used all the {what} that it was given.", closing=True)
        self._check_above()

    def _check_above(self, *, calls: bool = True) -> None:
        if self._above is None:
            return
        left = self._above._left
        if what := (left if calls else evolve(left, calls=inf)).exhausted:
            raise BoundReached(f"No {what} was left for it.")
        self._above._check_above(calls=calls)

    def check_last(self, reached: BoundReached) -> None:
        """Go on to the last word. Raises what was ``reached`` where there is none."""
        if not reached.closing or self._limits.after(evolve(self.used, calls=0), 0).exhausted:
            raise reached
        self.last = True

    async def check(self) -> None:
        """Look whether there may be one more request. Raises BudgetReached."""
        await self._look("check")

    async def _look(self, what: str) -> None:
        spent = Spent(usage=self.used, seconds=time.monotonic() - self._began)
        left = inf
        for label, purse in self._purses:
            asked = getattr(purse, what)(self._live.session, spent, self.unbooked, last=self.last)
            left = min(left, await self._ask(label, asked))
            if what == "begin":
                self._begun.append((label, purse))
        self._until = time.monotonic() + left

    @contextlib.asynccontextmanager
    async def reply(self) -> AsyncIterator[None]:
        """Around a reply, from its first request until it is booked. Raises BudgetReached before it."""
        before = self.used
        try:
            await self._look("begin")
            yield
        finally:
            await asyncio.shield(self.end(before))

    async def end(self, before: Usage | None = None) -> None:
        """The reply is booked, or nobody waits for it any more."""
        used = usages.subtract(self.used, before or self.used)
        while self._begun:
            label, purse = self._begun.pop()
            with contextlib.suppress(HermesError):  # it is recorded
                await self._ask(label, purse.end(self._live.session, used))

    async def _ask(self, label: str, asked: Coroutine[Any, Any, Any]) -> Any:
        dispatch = self._parts.dispatch
        answer, error = await fenced(lambda: asked, partial(dispatch.held, label, "purse"))
        if error and not isinstance(error, HermesError):
            dispatch.failed(label, "purse", error)
            raise PluginError(label, "could not say what may be spent", hint=f"hermes plugins disable {label}")
        if error:
            raise error
        return answer
