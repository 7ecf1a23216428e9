"""Who limits what turns use: model calls, tokens, money, time."""

from abc import ABC, abstractmethod
from collections.abc import Mapping

from hermes_core.types import Limits, Session, Spent, Usage

__all__ = ["Purse"]


class Purse(ABC):
    """Limits on what turns use, of whatever scope: a turn, a session, a day, a team.

    One that fails, or should be there and is not, ends the turn: then nothing more is spent. The hooks
    ``post_llm_call`` and ``on_turn_end`` tell when what was let through is over.
    """

    name: str

    def limits(self, usual: Limits) -> Limits:
        """Return what one turn may use, with all that works for it. ``usual`` is what it may use by other settings."""
        return usual

    @abstractmethod
    async def check(self, session: Session, spent: Spent, unbooked: Usage, *, last: bool) -> float:
        """Say how many seconds the next request may take; asked before each. Raises BudgetReached when none may be.

        It may wait for what other turns still use. ``spent`` is what the turn used with all that worked for it,
        ``unbooked`` what of that the store does not know yet; ``ctx.sessions.spent`` tells what it knows. Where the
        error is ``closing``, one ``last`` request without tools is made, for the words that end the turn.
        """

    @abstractmethod
    async def left(self, session: Session) -> Mapping[str, float]:
        """Say what is left of each limit beyond the turn's, as ``day.money``. The name ends in a name of Limits."""
