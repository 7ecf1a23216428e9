"""Slash commands on chat services: how they are found and run there, and those that only make sense there."""

import hashlib
from collections.abc import Callable, Sequence
from functools import partial

from attrs import evolve

from hermes_core.codec import plain_text
from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.kinds import TurnQueue
from hermes_core.slash import named, usable
from hermes_core.types import Blob, Button, Buttons, Envelope, Message, Session, SlashCommand, Text
from hermes_platform_gateway.asks import Asks
from hermes_platform_gateway.commands.answers import Answers
from hermes_platform_gateway.commands.in_chat import InChat
from hermes_platform_gateway.commands.shared import REFUSED, harmless
from hermes_platform_gateway.conversations import ChatConversation
from hermes_platform_gateway.people.access import Access
from hermes_platform_gateway.people.leaving import leave
from hermes_platform_gateway.rows.kept import rows_of
from hermes_platform_gateway.rows.values import PutQuestion
from hermes_platform_gateway.turns import Turns
from hermes_platform_gateway.whose import is_shared

__all__ = ["ChatCommands"]

_SIGNS = "/!"  # some clients keep what begins with a slash to themselves


class ChatCommands:
    """Runs the commands that people write. ``status`` says how the platforms are."""

    def __init__(
        self,
        ctx: PluginContext,
        queue: TurnQueue,
        turns: Turns,
        asks: Asks,
        status: Callable[[], Sequence[str]],
        again: Callable[[str], bool],
    ) -> None:
        self._ctx, self._asks, self._try_again = ctx, asks, again
        self._answers = answers = Answers(ctx, asks)
        self._side = partial(InChat, ctx, queue, turns, status)
        self._commands = ctx.slash.commands("chat")
        self._table = self._commands.table
        self._services = self._table["platforms"].run
        for run in (answers.approve, answers.deny, answers.answer, self.leave, self.platforms):
            self._table[run.__name__] = evolve(self._table[run.__name__], run=run)
        self._table["platforms"] = evolve(self._table["platforms"], usage="[resume NAME]")

    @property
    def menu(self) -> Sequence[SlashCommand]:
        """All commands, for menus."""
        return tuple(usable(self._table, "admin", "chat").values())

    def is_command(self, envelope: Envelope) -> bool:
        """Whether a message is a command: with a slash, or with ``!`` before the name of one.

        What is forwarded is somebody else's, and commands nothing; nor does what stands below a file.
        """
        if envelope.message.untrusted or any(isinstance(part, Blob) for part in envelope.message.parts):
            return False
        text = plain_text(envelope.message.parts).strip()
        if text.startswith("/"):
            return not text.startswith("//") and self._name(text) != ""
        return text.startswith("!") and named(self._table, self._name(text)) is not None

    def at_once(self, envelope: Envelope) -> bool:
        """Whether it is one that waits for nothing that came before."""
        known = named(self._table, self._name(plain_text(envelope.message.parts).strip()))
        return self.is_command(envelope) and known is not None and known.at_once

    def first_name(self, envelope: Envelope) -> str:
        """The command that a message is, by its first name; what it says, where there is no such command."""
        name = self._name(plain_text(envelope.message.parts).strip())
        known = named(self._table, name)
        return known.name if known else name

    async def run(self, conversation: ChatConversation, envelope: Envelope, access: Access) -> str | Message:
        """Carry a command out; what is to be said of it, or what the model is to hear. Raises HermesError."""
        text = plain_text(envelope.message.parts).strip()
        name, rest = self._split(text)
        if name == "answer" and (found := await self._answers.pressed(envelope, access, rest)):
            pressed, line = found
            await self._asks.close(pressed, f"Chosen: {line}", by=envelope.event_id)
            if not line.startswith("/"):
                return Message(role="user", parts=(Text(text=line),))
            name, rest = self._split(line)
        side = self._side(conversation, access)
        await self._check(side, conversation, envelope, name, rest)
        return await self._bound(conversation, envelope, access, await self._commands.run(side, name, rest))

    async def _check(
        self, side: InChat, conversation: ChatConversation, envelope: Envelope, name: str, rest: str
    ) -> None:
        """Raises UserError for what would change a conversation for others, of somebody who may not."""
        if side.role == "admin" or not is_shared(conversation.owner, envelope):
            return
        known = named(self._table, name)
        if known is None:  # of a skill, or there is none
            return
        first = known.name
        if harmless(first, rest) and first not in ("help", "commands"):
            return
        side.governs = await conversation.governs()
        if not side.governs and not harmless(first, rest):
            raise UserError(REFUSED.format(name=first))

    async def _bound(
        self, conversation: ChatConversation, envelope: Envelope, access: Access, answer: str | Message
    ) -> str | Message:
        """The answer with buttons that only who asked can press, and once."""
        if isinstance(answer, str) or answer.role == "user":
            return answer
        says = [one.says for part in answer.parts if isinstance(part, Buttons) for one in part.buttons]
        if not says:
            return answer
        event = f"{envelope.platform}:{envelope.account}:{envelope.event_id}"
        put = PutQuestion(
            id=hashlib.sha256(f"press {event}".encode("utf-8", "replace")).hexdigest()[:12],
            to=access.principal,
            owner=conversation.owner.person,
            session_id=conversation.wanted,
            kind="command",
            says=says,
            keys=(f"{event}:answer",),
            **{one: getattr(envelope, one) for one in ("platform", "account", "chat", "thread")},
        )
        await rows_of(self._ctx).questions.put(put)
        numbers = iter(range(1, len(says) + 1))
        parts = tuple(
            Buttons(
                buttons=tuple(Button(label=one.label, says=f"/answer {put.id} {next(numbers)}") for one in part.buttons)
            )
            if isinstance(part, Buttons)
            else part
            for part in answer.parts
        )
        return evolve(answer, parts=parts)

    def _split(self, text: str) -> tuple[str, str]:
        return self._name(text), "".join(text.split(maxsplit=1)[1:])

    @staticmethod
    def _name(text: str) -> str:
        """The command's name; services put the bot's own behind it: ``/new@my_bot``."""
        head = text.split(maxsplit=1)[0] if text else ""
        return head[1:].partition("@")[0].casefold().replace("_", "-") if head[:1] in _SIGNS and head else ""

    # --- the commands -----------------------------------------------------------------------------------------------

    async def leave(self, session: Session, _rest: str) -> str:
        conversation = self._ctx.conversation(session)
        conversation.need_person(admin=True)
        envelope = conversation.envelope
        assert envelope
        sender = self._asks.senders.of(envelope)
        by = envelope.sender_name or envelope.sender
        return await leave(self._ctx, sender.platform if sender else None, envelope, by)

    async def platforms(self, session: Session, rest: str) -> str:
        word, _, name = rest.partition(" ")
        if word == "resume":
            tried = self._try_again(name.strip())
            return f"{name} is tried again." if tried else f"There is nothing to try again: {name or 'say which one'}."
        return str(await self._services(session, rest))
