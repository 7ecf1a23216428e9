"""What slash commands may ask of a session in an editor."""

import os
from typing import TYPE_CHECKING

from hermes_core.errors import UserError
from hermes_core.slash import QUEUED, STEERED, HostSide
from hermes_core.types import Session, SlashCommand, TurnOrder

if TYPE_CHECKING:
    from hermes_platform_acp.conversation import Conversation

__all__ = ["Side"]

_ELSEWHERE = {"new", "resume", "branch"}  # the editor has a list of its own, and says which session it shows


class Side(HostSide):
    """One session, for its person."""

    def __init__(self, conversation: "Conversation") -> None:
        self._conversation = conversation
        self.chosen: dict[str, str] = {}

    @property
    def who(self) -> str:
        owner = self._conversation.session.owner
        return f"{owner.person} of profile {owner.profile}, in {self._conversation.agent.editor}"

    def offered(self, commands: dict[str, SlashCommand]) -> dict[str, SlashCommand]:
        return {name: one for name, one in commands.items() if name not in _ELSEWHERE}

    async def take_up(self) -> Session:
        return self._conversation.session

    async def switch(self, session_id: str = "") -> Session:
        raise UserError(
            "Your editor says which session it shows.", hint="Open one from its list, or begin a new one there."
        )

    def renamed(self, session: Session) -> None:
        self._conversation.session = session

    async def interrupt(self, session: Session) -> bool:
        runs = await self.working(session)
        await self._conversation.cancel()
        return runs

    async def working(self, session: Session) -> bool:
        return await self._conversation.ctx.turns.busy(session.id)

    async def steer(self, session: Session, text: str) -> str:
        await self._conversation.ctx.turns.steer(session.id, text)
        return STEERED

    async def queue(self, session: Session, text: str) -> str:
        await self._conversation.ctx.turns.queue(text, order=TurnOrder(session=session.id))
        return QUEUED

    async def beside(self, session: Session, text: str) -> str:
        """Have something done in a session of its own, which is in the editor's list when it is done."""
        order = TurnOrder(folder=session.cwd, event=os.urandom(16).hex())
        return await self._conversation.beside(text, order)

    async def choose(self, **chosen: str) -> None:
        self.chosen = {key: one for key, one in {**self.chosen, **chosen}.items() if one}
        await self._conversation.choices.keep(**chosen)
