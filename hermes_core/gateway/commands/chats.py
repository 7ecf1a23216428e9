"""Slash commands on chat services: the kernel's and the plugins', and those that only make sense there."""

from collections.abc import Callable, Sequence
from contextvars import ContextVar

from attrs import evolve

from hermes_core.agent.live import new_session_id
from hermes_core.agent.runtime import Runtime
from hermes_core.config.schema import EFFORTS
from hermes_core.errors import UnknownName, UserError
from hermes_core.gateway.commands.conduct import Conduct, keep_model, wanted_model
from hermes_core.gateway.commands.deck import carried_out, named
from hermes_core.gateway.commands.quick import find
from hermes_core.gateway.commands.slash import deck_of
from hermes_core.gateway.commands.words import Words
from hermes_core.gateway.conversations import ChatConversation
from hermes_core.gateway.outward.senders import Senders
from hermes_core.gateway.people.access import Access, usable
from hermes_core.gateway.turns import Turns
from hermes_core.kinds import TurnQueue
from hermes_core.store.codec import plain_text
from hermes_core.types import Approval, Envelope, Message, Outcome, Session, SlashCommand, Text, Verdict

__all__ = ["ChatCommands"]

# The command that runs in this task: in a conversation that several share, two may run at a time, of different people.
_RUNNING: ContextVar[tuple[ChatConversation, Access]] = ContextVar("running")
_SIGNS = "/!"  # some clients keep what begins with a slash to themselves


class ChatCommands:
    """Runs the commands that people write. ``status`` says how the platforms are."""

    def __init__(
        self,
        runtime: Runtime,
        queue: TurnQueue,
        turns: Turns,
        senders: Senders,
        status: Callable[[], Sequence[str]],
        again: Callable[[str], bool],
    ) -> None:
        self._runtime, self._queue, self._turns, self._senders, self._status = runtime, queue, turns, senders, status
        self._try_again = again
        self._deck = deck_of(runtime, self._of, "chat")
        self._deck.role = lambda: _RUNNING.get()[1].role
        self._table = self._deck.table
        self._waiting, self._services = self._table["queue"].run, self._table["platforms"].run
        here = (
            self.status, self.whoami, self.approve, self.deny, self.background, self.model, self.reasoning,
            self.steer, self.queue, self.stop, self.platforms,
        )  # fmt: skip
        for run in here:
            self._table[run.__name__] = evolve(self._table[run.__name__], run=run)
        self._table["platforms"] = evolve(self._table["platforms"], usage="[resume NAME]")

    @property
    def table(self) -> Sequence[SlashCommand]:
        """All commands, for menus."""
        return tuple(usable(self._table, "admin", "chat").values())

    def is_command(self, envelope: Envelope) -> bool:
        """Whether a message is a command: with a slash, or with ``!`` before the name of one."""
        text = plain_text(envelope.message.parts).strip()
        if text.startswith("/"):
            return not text.startswith("//") and self._name(text) != ""
        return text.startswith("!") and named(self._table, self._name(text)) is not None

    def at_once(self, envelope: Envelope) -> bool:
        """Whether it is one that waits for nothing that came before."""
        known = named(self._table, self._name(plain_text(envelope.message.parts).strip()))
        return self.is_command(envelope) and known is not None and known.at_once

    def mode(self, envelope: Envelope) -> str:
        """How what a command says to the model reaches a running turn, where the command is the wish for it."""
        known = named(self._table, self._name(plain_text(envelope.message.parts).strip()))
        return known.name if known and known.name in ("queue", "steer") else ""

    async def run(self, conversation: ChatConversation, envelope: Envelope, access: Access) -> str | Message:
        """Carry a command out; what is to be said of it, or what the model is to hear. Raises HermesError."""
        text = plain_text(envelope.message.parts).strip()
        name, rest = self._name(text), "".join(text.split(maxsplit=1)[1:])
        usable_here, session = usable(self._table, access.role, "chat"), await conversation.take_up()
        running = _RUNNING.set((conversation, access))
        try:
            command = await find(self._deck, usable_here, session, name)
            return await carried_out(self._deck, command, session, rest)
        finally:
            _RUNNING.reset(running)

    @staticmethod
    def _name(text: str) -> str:
        """The command's name; services put the bot's own behind it: ``/new@my_bot``."""
        head = text.split(maxsplit=1)[0] if text else ""
        return head[1:].partition("@")[0].casefold().replace("_", "-") if head[:1] in _SIGNS and head else ""

    def _of(self, session_id: str) -> ChatConversation:
        return _RUNNING.get()[0]

    # --- the commands -----------------------------------------------------------------------------------------------

    async def status(self, session: Session, _rest: str) -> str:
        conversation, access = _RUNNING.get()
        route = await self._runtime.routed_for(str(conversation.overrides.get("model", "")), "")
        lines = await Words(self._deck).state(session, route, await self._turns.busy(session.id))
        return "\n".join([*lines, *(self._status() if access.role == "admin" else ())])

    async def whoami(self, session: Session, _rest: str) -> str:
        conversation, access = _RUNNING.get()
        envelope = conversation.envelope
        name = f" ({envelope.sender_name})" if envelope.sender_name else ""
        return (
            f"You are {envelope.sender}{name} on {envelope.platform}, here {access.principal.person}, "
            f"{access.role}. Let in by {access.by}."
        )

    async def approve(self, session: Session, rest: str) -> str:
        words = rest.split()
        choice = next((word for word in words if word in ("once", "session", "always")), "once")
        return await self._answer(session, [word for word in words if word != choice], "allow", choice)

    async def deny(self, session: Session, rest: str) -> str:
        return await self._answer(session, rest.split(), "deny", "deny")

    async def _answer(self, session: Session, words: Sequence[str], outcome: Outcome, choice: str) -> str:
        conversation, access = _RUNNING.get()
        store = await self._runtime.store()
        found = await self._question(session, access, words[0] if words else "")
        if found.state != "open":
            return f"That is already {found.told}."
        by = conversation.envelope.sender_name or conversation.envelope.sender
        reason = "" if outcome == "allow" else "refused by the person"
        verdict = Verdict(outcome=outcome, choice=choice, by=by, reason=reason)
        settled, mine = await store.settle_approval(found.owner, found.id, verdict)
        if not mine:
            return f"That is already {settled.told}."
        told = "Denied."
        if settled.verdict == "allow":
            told = f"Allowed ({settled.choice})." + (
                f" It covers: {settled.covers}" if settled.choice != "once" else ""
            )
        return "" if await self._senders.closed(conversation.envelope, settled.id, f"{told} ({by})") else told

    async def _question(self, session: Session, access: Access, words: str) -> Approval:
        """The question that is meant: by its id, or the only one that is open here. Others' are for admins only."""
        store, admin = await self._runtime.store(), access.role == "admin"
        if words:
            return await store.find_approval(session.owner, words, admin=admin)
        rows = await store.list_approvals(session.owner, admin=admin)
        rows = [row for row in rows if row.kind == "approval"]
        here = [row for row in rows if session.id in (row.session_id, row.root)] or rows
        if not here:
            raise UserError("No question is open.")
        if len(here) > 1:
            shown = "\n".join(f"{row.id}  {row.subject[:80]}" for row in here)
            raise UserError(f"Several questions are open; say which one:\n{shown}")
        return here[0]

    async def background(self, session: Session, rest: str) -> str:
        if not rest:
            raise UserError("Say what is to be done: /background TEXT")
        envelope = _RUNNING.get()[0].envelope
        beside = evolve(envelope, event_id=f"{envelope.event_id}#beside", message=_words(rest))
        name = new_session_id()
        known = {"owner": session.owner, "origin": session.origin, "envelope": beside}
        await self._runtime.queue(name, beside.message, **known)
        await self._queue.put(name)
        return f"Begun beside this conversation, in {name}. The answer comes here."

    async def model(self, session: Session, rest: str) -> str:
        conversation, _ = _RUNNING.get()
        words, span = wanted_model(rest)
        if span == "once":
            raise UserError("In a chat a model answers until another one is chosen.")
        if words:
            wanted = "" if words == "default" else words
            route = await self._runtime.routed_for(wanted, "")
            if wanted and route.model != wanted.rpartition(":")[2] and not wanted.endswith((route.model, ":")):
                raise UnknownName("model", wanted, hint="Write /model provider:model.")
            if span == "global":
                return await keep_model(self._deck, route.name, route.model)
            await conversation.choose(model=f"{route.name}:{route.model}" if wanted else "")
        route = await self._runtime.routed_for(str(conversation.overrides.get("model", "")), "")
        return f"{'From now on' if words else 'Here'} {route.model} from {route.name} answers in this chat."

    async def reasoning(self, session: Session, rest: str) -> str:
        conversation, _ = _RUNNING.get()
        if "--global" in rest.split():
            return await Conduct(self._deck).reasoning(session, rest)
        if rest and rest not in (*EFFORTS, "default"):
            raise UserError(f"There is no effort {rest!r}: {', '.join(EFFORTS)}.")
        if rest:
            await conversation.choose(effort="" if rest == "default" else rest)
        return f"Effort in this chat: {conversation.overrides.get('effort') or 'as it is set up'}."

    async def platforms(self, session: Session, rest: str) -> str:
        word, _, name = rest.partition(" ")
        if word == "resume":
            tried = self._try_again(name.strip())
            return f"{name} is tried again." if tried else f"There is nothing to try again: {name or 'say which one'}."
        return str(await self._services(session, rest))

    async def steer(self, session: Session, rest: str) -> Message:
        if not rest:
            raise UserError("Say what the model should hear: /steer TEXT")
        return _words(rest)

    async def queue(self, session: Session, rest: str) -> Message | str:
        return _words(rest) if rest not in ("", "clear") else await self._waiting(session, rest)

    async def stop(self, session: Session, _rest: str) -> str:
        return "Stopped." if await self._turns.interrupt(session.id, session.owner) else "Nothing runs."


def _words(text: str) -> Message:
    """What a person says with a command."""
    return Message(role="user", parts=(Text(text=text),))
