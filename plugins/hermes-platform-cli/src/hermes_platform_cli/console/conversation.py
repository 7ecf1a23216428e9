"""What one chat talks to."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from hermes_core.context import PluginContext
from hermes_core.slash import QUEUED, STEERED, HostSide
from hermes_core.types import Session, TurnOrder

__all__ = ["BEHIND", "WAITS", "Conversation"]

WAITS = "This command waits for the end of the turn; /stop ends it."
BEHIND = "This comes after the command that waits."


class Conversation(HostSide):
    """What a chat talks to now. ``begin`` has something done beside it.

    ``wanted`` names an earlier session that it goes on in, whose last turn may be unfinished: ``resumes``. One that is
    ``alone`` chooses its model for itself, as others are in the same process.
    """

    def __init__(
        self,
        ctx: PluginContext,
        origin: str,
        begin: Callable[[Session, str], Awaitable[str]],
        session_id: str = "",
        *,
        alone: bool = False,
    ) -> None:
        self._ctx, self._origin, self._begin = ctx, origin, begin
        self.chosen: Mapping[str, str] | None = {} if alone else None
        self.wanted = session_id
        self.resumes = bool(session_id)
        self.over = True  # the last turn has its end, and no other has begun
        self.behind = False  # a command waits for the end of the turn, and what comes now for the command
        self.session: Session | None = None
        self.seen: Session | None = None  # the session that is wanted, as its row says; it is not taken up yet
        self._taking = asyncio.Lock()

    async def take_up(self) -> Session:
        """The session of this chat, made when first needed."""
        async with self._taking:  # two may ask at once
            if self.session is None:
                self.session = await self._ctx.turns.take_up(self.wanted, origin=self._origin)
                self.wanted = self.session.id
            return self.session

    def go_on(self, session: Session) -> None:
        """Go on in an earlier session, which is taken up when somebody says something."""
        self.session, self.seen, self.wanted, self.last, self.resumes = None, session, session.id, None, True

    # --- what slash commands ask of it ------------------------------------------------------------------------------

    @property
    def who(self) -> str:
        return f"{self._ctx.owner.person} of profile {self._ctx.owner.profile}"

    async def switch(self, session_id: str = "") -> Session:
        self.session, self.seen, self.wanted, self.last = None, None, session_id, None
        self.resumes = bool(session_id)
        return await self.take_up()

    async def choose(self, **chosen: str) -> None:
        self.chosen = {name: value for name, value in {**(self.chosen or {}), **chosen}.items() if value}

    @property
    def answers(self) -> tuple[str, str]:
        """The model and the effort of the next turn, where this conversation chose them."""
        chosen = self.chosen or {}
        return chosen.get("model", ""), chosen.get("effort", "")

    def renamed(self, session: Session) -> None:
        self.session = session

    async def interrupt(self, session: Session) -> bool:
        return await self._ctx.turns.interrupt(session.id)

    async def working(self, session: Session) -> bool:
        return await self._ctx.turns.busy(session.id)

    async def steer(self, session: Session, text: str) -> str:
        await self._ctx.turns.steer(session.id, text)
        return STEERED if await self.working(session) else ""

    async def queue(self, session: Session, text: str) -> str:
        await self._ctx.turns.queue(text, order=TurnOrder(session=session.id))
        return QUEUED if await self.working(session) else ""

    async def beside(self, session: Session, text: str) -> str:
        return await self._begin(session, text)
