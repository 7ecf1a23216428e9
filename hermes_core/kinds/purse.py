"""Who limits what turns use: model calls, tokens, money, time."""

from abc import ABC, abstractmethod
from collections.abc import Mapping

from hermes_core.types import Limits, Session, Spent, Usage

__all__ = ["Purse"]


class Purse(ABC):
    """Limits on what turns use, of whatever scope: a turn, a session, a day, a team.

    It is looked into before each request to a model. One that fails, or should be there and is not, ends the turn: then
    nothing more is spent. ``spent`` is what the turn used so far with what worked for it, and its seconds; ``unbooked``
    is what of it the store does not know yet (``ctx.sessions.spent`` tells what it knows).
    """

    name: str

    def limits(self, usual: Limits) -> Limits:
        """What one turn may use, with all that works for it. ``usual`` is what it may use by other settings."""
        return usual

    @abstractmethod
    async def check(self, session: Session, spent: Spent, unbooked: Usage, *, last: bool) -> float:
        """How many seconds the next request may take. Raises BudgetReached when there may be none.

        Where that is ``closing``, one ``last`` request without tools is made, for the words that end the turn.
        """

    @abstractmethod
    async def left(self, session: Session) -> Mapping[str, float]:
        """What is left of each limit beyond that of the turn, as ``day.money``. The name ends in a name of Limits."""

    async def begin(self, session: Session, spent: Spent, unbooked: Usage, *, last: bool) -> float:
        """The same as ``check`` for the first request of a reply; it may wait for what other turns still use."""
        return await self.check(session, spent, unbooked, last=last)

    async def end(self, session: Session, usage: Usage) -> None:
        """What was begun is over, and ``usage`` is booked. Comes once for each ``begin`` that raised nothing."""
