"""A conversation on a chat service, as a command that was written in it has it."""

from collections.abc import Callable, Sequence
from typing import Literal

from attrs import evolve

from hermes_core.context import PluginContext
from hermes_core.errors import Duplicate
from hermes_core.kinds import TurnQueue
from hermes_core.slash import HostSide
from hermes_core.types import Message, Session, SlashCommand, Text, TurnOrder
from hermes_platform_gateway.commands.shared import left
from hermes_platform_gateway.conversations import ChatConversation, dressed
from hermes_platform_gateway.limits import limits_of
from hermes_platform_gateway.names import plain_name
from hermes_platform_gateway.people.access import Access
from hermes_platform_gateway.turns import Turns

__all__ = ["InChat"]


class InChat(HostSide):
    """The host's side where several may write, each with their ``access``, and turns are played by workers."""

    place = "chat"

    def __init__(
        self,
        ctx: PluginContext,
        queue: TurnQueue,
        turns: Turns,
        status: Callable[[], Sequence[str]],
        chat: ChatConversation,
        access: Access,
    ) -> None:
        self._ctx, self._queue, self._turns, self._status = ctx, queue, turns, status
        self._chat, self._access = chat, access
        self.role, self.envelope, self.event = access.role, chat.envelope, chat.envelope.event_id
        self.governs = True  # whether they may change the conversation for all who share it
        self.speaker = access.speaker

    @property
    def chosen(self) -> dict[str, str]:  # type: ignore[override]
        """What was chosen for this chat."""
        return self._chat.overrides

    @property
    def who(self) -> str:
        envelope, access = self._chat.envelope, self._access
        name = f" ({plain_name(envelope.sender_name)})" if envelope.sender_name else ""
        return (
            f"{envelope.sender}{name} on {envelope.platform}, here {access.principal.person}, "
            f"{access.role}. Let in by {access.by}"
        )

    def offered(self, commands: dict[str, SlashCommand]) -> dict[str, SlashCommand]:
        return commands if self.governs else left(commands)

    async def take_up(self) -> Session:
        return await self._chat.take_up()

    async def switch(self, session_id: str = "") -> Session:
        return await self._chat.switch(session_id)

    def renamed(self, session: Session) -> None:
        self._chat.session = session

    async def interrupt(self, session: Session) -> bool:
        return await self._turns.interrupt(session.id, session.owner)

    async def working(self, session: Session) -> bool:
        return await self._turns.busy(session.id, session.owner)

    async def steer(self, session: Session, text: str) -> Message:
        return self._sent("steer", text)

    async def queue(self, session: Session, text: str) -> Message:
        return self._sent("queue", text)

    def _sent(self, mode: Literal["queue", "steer"], text: str) -> Message:
        """What the person says with a command; it comes in as any message does, and reaches the turn as it wishes."""
        self._chat.mode = mode
        return _words(text)

    async def beside(self, session: Session, text: str) -> str:
        envelope, turns = self._chat.envelope, self._ctx.turns
        limits, person = limits_of(self._ctx), self._access.principal.person
        words = dressed(evolve(envelope, message=_words(text), quote=""), shared=envelope.kind != "dm")
        await limits.check(words, self._access)
        beside = evolve(words, event_id=f"{envelope.event_id}#beside")
        new = await turns.take_up(owner=session.owner, origin=session.origin)
        if not await turns.queue(beside, owner=session.owner, order=TurnOrder(session=new.id)):
            raise Duplicate("This was begun before.")
        limits.waits(person, new.id, envelope)
        await self._queue.put(new.id, person)
        return new.id

    async def choose(self, **chosen: str) -> None:
        await self._chat.choose(**chosen)

    def services(self) -> Sequence[str]:
        return self._status() if self.role == "admin" else ()


def _words(text: str) -> Message:
    return Message(role="user", parts=(Text(text=text),))
