"""Slash commands on chat services: how they are found and run there, and those that only make sense there."""

import re
from collections.abc import Callable, Sequence
from functools import partial

from attrs import evolve

from hermes_core.codec import plain_text
from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.kinds import Conversation, TurnQueue
from hermes_core.slash import named, usable
from hermes_core.types import Approval, Envelope, Message, Session, SlashCommand, Verdict
from hermes_platform_gateway.commands.in_chat import InChat
from hermes_platform_gateway.conversations import ChatConversation
from hermes_platform_gateway.outward.senders import Senders
from hermes_platform_gateway.people.access import Access
from hermes_platform_gateway.people.leaving import leave
from hermes_platform_gateway.turns import Turns

__all__ = ["ChatCommands"]

_SIGNS = "/!"  # some clients keep what begins with a slash to themselves

# Of a question; a word that only looks like the start of one, as "add" does, is what a person says.
_ID = re.compile(r"(?=.*[0-9])[0-9a-f]{4,64}|[0-9a-f]{12,64}")


class ChatCommands:
    """Runs the commands that people write. ``status`` says how the platforms are."""

    def __init__(
        self,
        ctx: PluginContext,
        queue: TurnQueue,
        turns: Turns,
        senders: Senders,
        status: Callable[[], Sequence[str]],
        again: Callable[[str], bool],
    ) -> None:
        self._ctx, self._senders, self._try_again = ctx, senders, again
        self._side = partial(InChat, ctx, queue, turns, status)
        self._commands = ctx.slash.commands("chat")
        self._table = self._commands.table
        self._services = self._table["platforms"].run
        for run in (self.approve, self.deny, self.leave, self.platforms):
            self._table[run.__name__] = evolve(self._table[run.__name__], run=run)
        self._table["platforms"] = evolve(self._table["platforms"], usage="[resume NAME]")

    @property
    def menu(self) -> Sequence[SlashCommand]:
        """All commands, for menus."""
        return tuple(usable(self._table, "admin", "chat").values())

    def is_command(self, envelope: Envelope) -> bool:
        """Whether a message is a command: with a slash, or with ``!`` before the name of one.

        What is forwarded is somebody else's, and commands nothing.
        """
        if envelope.message.untrusted:
            return False
        text = plain_text(envelope.message.parts).strip()
        if text.startswith("/"):
            return not text.startswith("//") and self._name(text) != ""
        return text.startswith("!") and named(self._table, self._name(text)) is not None

    def at_once(self, envelope: Envelope) -> bool:
        """Whether it is one that waits for nothing that came before."""
        known = named(self._table, self._name(plain_text(envelope.message.parts).strip()))
        return self.is_command(envelope) and known is not None and known.at_once

    async def run(self, conversation: ChatConversation, envelope: Envelope, access: Access) -> str | Message:
        """Carry a command out; what is to be said of it, or what the model is to hear. Raises HermesError."""
        text = plain_text(envelope.message.parts).strip()
        name, rest = self._name(text), "".join(text.split(maxsplit=1)[1:])
        return await self._commands.run(self._side(conversation, access), name, rest)

    @staticmethod
    def _name(text: str) -> str:
        """The command's name; services put the bot's own behind it: ``/new@my_bot``."""
        head = text.split(maxsplit=1)[0] if text else ""
        return head[1:].partition("@")[0].casefold().replace("_", "-") if head[:1] in _SIGNS and head else ""

    # --- the commands -----------------------------------------------------------------------------------------------

    async def approve(self, session: Session, rest: str) -> str:
        words = rest.split()
        choice = next((word for word in words if word in ("once", "session", "always")), "once")
        allowed = Verdict(outcome="allow", choice=choice)
        return await self._answer(session, next((word for word in words if word != choice), ""), allowed)

    async def deny(self, session: Session, rest: str) -> str:
        word, _, instead = rest.strip().partition(" ")
        if not _ID.fullmatch(word):
            word, instead = "", rest
        return await self._answer(session, word, Verdict.refused("", instead))

    async def _answer(self, session: Session, which: str, said: Verdict) -> str:
        here = self._ctx.conversation(session)
        envelope = here.envelope
        assert envelope
        found = await self._question(here, which)
        if found.state != "open":
            return f"That is already {found.summary}."
        by = envelope.sender_name or envelope.sender
        settle = self._ctx.approvals.settle
        settled = await settle(session.owner, found.id, evolve(said, by=by), admin=here.role == "admin")
        told = "Denied."
        if settled.verdict == "allow":
            told = f"Allowed ({settled.choice})." + (
                f" It covers: {settled.covers}" if settled.choice != "once" else ""
            )
        return "" if await self._senders.closed(envelope, settled.id, f"{told} ({by})") else told

    async def _question(self, conversation: Conversation, words: str) -> Approval:
        """The question that is meant: by its id, or the only one that is open here. Others' are for admins only."""
        approvals, session = self._ctx.approvals, conversation.session
        admin = conversation.role == "admin"
        if words:
            return await approvals.find(session.owner, words, admin=admin)
        rows = await approvals.list(session.owner, admin=admin, limit=50)
        rows = [row for row in rows if row.kind == "approval"]
        here = [row for row in rows if session.id in (row.session_id, row.root)] or rows
        if not here:
            raise UserError("No question is open.")
        if len(here) > 1:
            shown = "\n".join(f"{row.id}  {row.subject[:80]}" for row in here)
            raise UserError(f"Several questions are open; say which one:\n{shown}")
        return here[0]

    async def leave(self, session: Session, _rest: str) -> str:
        conversation = self._ctx.conversation(session)
        conversation.need_person(admin=True)
        envelope = conversation.envelope
        assert envelope
        sender = self._senders.of(envelope)
        by = envelope.sender_name or envelope.sender
        return await leave(self._ctx, sender.platform if sender else None, envelope, by)

    async def platforms(self, session: Session, rest: str) -> str:
        word, _, name = rest.partition(" ")
        if word == "resume":
            tried = self._try_again(name.strip())
            return f"{name} is tried again." if tried else f"There is nothing to try again: {name or 'say which one'}."
        return str(await self._services(session, rest))
