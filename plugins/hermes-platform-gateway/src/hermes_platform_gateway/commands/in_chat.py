"""A conversation on a chat service, as a command that was written in it has it."""

from collections.abc import Callable, Sequence

from attrs import evolve

from hermes_core.agent.live import new_session_id
from hermes_core.agent.route.choice import Route
from hermes_core.agent.runtime import Runtime
from hermes_core.console.allowed import Role
from hermes_core.console.at_hand import AtHand
from hermes_core.errors import UnknownName, UserError
from hermes_platform_gateway.conversations import ChatConversation
from hermes_platform_gateway.people.access import Access
from hermes_platform_gateway.turns import Turns
from hermes_core.kinds import TurnQueue
from hermes_core.types import Envelope, Message, Session, Text

__all__ = ["InChat"]


class InChat(AtHand):
    """The same where several may write, each with their ``access``, and turns are played by workers."""

    place = "chat"

    def __init__(
        self,
        runtime: Runtime,
        queue: TurnQueue,
        turns: Turns,
        status: Callable[[], Sequence[str]],
        talk: ChatConversation,
        access: Access,
        session: Session,
    ) -> None:
        super().__init__(runtime, talk, session)
        self._queue, self._turns, self._status = queue, turns, status
        self._chat, self._access = talk, access

    @property
    def role(self) -> Role:
        return self._access.role

    @property
    def who(self) -> str:
        envelope, access = self._chat.envelope, self._access
        name = f" ({envelope.sender_name})" if envelope.sender_name else ""
        return (
            f"{envelope.sender}{name} on {envelope.platform}, here {access.principal.person}, "
            f"{access.role}. Let in by {access.by}"
        )

    @property
    def envelope(self) -> Envelope | None:
        return self._chat.envelope

    async def interrupt(self) -> bool:
        return await self._turns.interrupt(self.session.id, self.session.owner)

    async def steer(self, text: str) -> str | Message:
        return self._wished("steer", text)

    async def queue(self, text: str) -> str | Message:
        return self._wished("queue", text)

    def _wished(self, wish: str, text: str) -> Message:
        """What the person says with a command; it comes in as any message does, and reaches the turn as it wishes."""
        self._chat.wish = wish
        return _words(text)

    async def beside(self, text: str) -> str:
        envelope = self._chat.envelope
        beside = evolve(envelope, event_id=f"{envelope.event_id}#beside", message=_words(text))
        name = new_session_id()
        known = {"owner": self.session.owner, "origin": self.session.origin, "envelope": beside}
        await self._runtime.queue(name, beside.message, **known)
        await self._queue.put(name)
        return name

    async def _answering(self, wanted: str = "", span: str = "") -> Route:
        if span == "once":
            raise UserError("In a chat a model answers until another one is chosen.")
        if wanted:
            words = "" if wanted == "default" else wanted
            route = await self._runtime.routed_for(words, "")
            if words and route.model != words.rpartition(":")[2] and not words.endswith((route.model, ":")):
                raise UnknownName("model", words, hint="Write /model provider:model.")
            if span == "global":
                return route
            await self._chat.choose(model=f"{route.name}:{route.model}" if words else "")
        return await self._runtime.routed_for(str(self._chat.overrides.get("model", "")), "")

    async def effort(self, wanted: str = "") -> str:
        self._effort(wanted, "default")
        if wanted:
            await self._chat.choose(effort="" if wanted == "default" else wanted)
        return str(self._chat.overrides.get("effort") or "")

    async def _working(self) -> bool:
        return await self._turns.busy(self.session.id)

    def _services(self) -> Sequence[str]:
        return self._status() if self.role == "admin" else ()


def _words(text: str) -> Message:
    return Message(role="user", parts=(Text(text=text),))
