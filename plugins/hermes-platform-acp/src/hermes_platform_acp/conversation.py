"""One session of an editor: what is said in it, what is played in it, what was chosen for it."""

import asyncio
import os
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, TypeAlias

from hermes_acp_wire.peer import INTERNAL, Gone, RpcError
from hermes_core.errors import HermesError, UnknownName, UserError
from hermes_core.kinds import Conversation as SlashConversation
from hermes_core.slash import SlashCommands, named, usable
from hermes_core.types import (
    Ended,
    Envelope,
    Event,
    Failed,
    Message,
    Question,
    Session,
    SlashCommand,
    Text,
    TurnOrder,
    Verdict,
)
from hermes_platform_acp.asking import Asking
from hermes_platform_acp.blocks import blocks_of, message_of, text
from hermes_platform_acp.bringing import Bringing
from hermes_platform_acp.buffers import Buffers
from hermes_platform_acp.cards import Card
from hermes_platform_acp.choices import Choices
from hermes_platform_acp.options import EFFORT, MODEL, Option
from hermes_platform_acp.replay import replayed
from hermes_platform_acp.shapes import V2, Update
from hermes_platform_acp.side import Side
from hermes_platform_acp.teller import Teller

if TYPE_CHECKING:
    from hermes_platform_acp.agent import Agent

__all__ = ["Conversation"]

JSON: TypeAlias = Any

_CODES = {"auth_error": -32000, "unknown_name": -32002}


class _Said:
    """A message on its way through, by its ``name``: ``cancelled`` once nobody wants its answer."""

    def __init__(self, name: str) -> None:
        self.name, self.cancelled = name, False
        self.accepted: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def accept(self) -> None:
        """Let whoever said it know that it is written down, before anything comes of it."""
        if not self.accepted.done():
            self.accepted.set_result(None)
            await asyncio.sleep(0)
            await asyncio.sleep(0)


class Conversation:
    """One session that is open in an editor. One thing is played in it at a time, in the order in which it came.

    One that is ``fresh`` was begun just now, in the folder that was ``wanted`` for it.
    """

    def __init__(self, agent: "Agent", session: Session, *, fresh: bool, wanted: str = "") -> None:
        self.agent, self.ctx, self.session, self.fresh, self._wanted = agent, agent.ctx, session, fresh, wanted
        assert agent.shapes
        self.shapes = agent.shapes
        self.side = Side(self)
        self.asking, self.choices, self.bringing = Asking(self), Choices(self), Bringing(self)
        self.buffers = Buffers(self)
        self.calls: dict[str, str] = {}  # a model's id of a call -> its name here; of one that comes again the last
        self.cards: dict[str, Card] = {}  # by their names here
        self._turn, self._under_way = asyncio.Lock(), list[_Said]()
        self._told_title = session.title
        self._made: SlashCommands | None = None

    @property
    def commands(self) -> SlashCommands:
        """The slash commands. To have them imports plugins."""
        self._made = self._made or self.ctx.slash.commands("terminal")
        return self._made

    @property
    def at_hand(self) -> SlashConversation:
        """The session as slash commands have it."""
        return self.commands.conversation(self.side, self.session)

    async def send(self, *updates: Update) -> None:
        """Tell the editor."""
        for update in updates:
            await self.agent.peer.notify("session/update", {"sessionId": self.session.id, "update": update})

    async def say(self, words: str) -> None:
        """Tell the person something that no model said, in a message of its own."""
        name = self.new_name()
        await self.send(self.shapes.piece("agent_message", name, text(self.ctx.masks.text(words))))

    def new_name(self) -> str:
        """Return a name for a message."""
        return os.urandom(8).hex()

    # --- opening and closing ----------------------------------------------------------------------------------------

    async def opened(self) -> None:
        """Tell what an editor shows of a session, and go on with what was cut off in it."""
        if self._wanted and os.path.realpath(self._wanted) != os.path.realpath(self.session.cwd):
            text = f"{self._wanted} is too wide to work in. This session works in {self.session.cwd}."
            await self.say(f"{text} Open the folder of a project to have its files at hand.")
        await self._show_commands()
        await self.bringing.give(asking=False)
        if not self.fresh:
            await self._go_on()
        await self.choices.list_models()

    async def close(self) -> None:
        """Stop what runs, and let go of what the session holds here."""
        await self.cancel()
        async with self._turn:
            await self.bringing.take_back()
            await self.ctx.host.turns.let_go(self.session.id)

    async def replay(self) -> None:
        """Tell all that was said."""
        try:
            past = await self.ctx.sessions.past(self.session.owner, self.session.id)
        except UnknownName:
            past = ()
        async for update in replayed(self, past):
            await self.send(update)

    async def _show_commands(self) -> None:
        usable_ = self.side.offered(usable(self.commands.table, self.side.role, self.side.place))
        rows = [(one.name, one.summary, one.usage) for one in usable_.values()]
        await self.send(self.shapes.commands(rows))

    async def _go_on(self) -> None:
        """Play to its end what a death cut off, and what waited behind it."""
        async with self._turn:
            said = self._begin()
            try:
                while await self._played(self._resumed(), said, quietly=True):
                    pass
            except (HermesError, RpcError) as error:
                await self.say(f"What was cut off could not go on: {error}")
            finally:
                self._under_way.remove(said)

    # --- what is said -----------------------------------------------------------------------------------------------

    async def prompt(self, blocks: Sequence[Mapping[str, JSON]]) -> JSON:
        """Answer a message; in version 2 beside, once it is written down. Raises RpcError, HermesError."""
        message = message_of(blocks)
        if (at_once := self._command(message)) and at_once[0].at_once and self._under_way:
            return await self._at_once(blocks, *at_once)
        said = self._begin()
        if self.shapes.version < V2.version:
            return {"stopReason": await self._answered(message, blocks, said)}
        self.agent.peer.spawn(self._beside(message, blocks, said))
        await said.accepted
        return {"messageId": said.name}

    async def cancel(self) -> None:
        """Stop what runs, and answer nothing of what waits behind it."""
        for said in self._under_way:
            said.cancelled = True
        self.asking.withdraw()
        await self.ctx.turns.interrupt(self.session.id)

    def _begin(self) -> _Said:
        said = _Said(self.new_name())
        self._under_way.append(said)
        return said

    async def _at_once(self, blocks: Sequence[Mapping[str, JSON]], command: SlashCommand, rest: str) -> JSON:
        """Run a command that does not wait for the end of the turn."""
        name = self.new_name()
        await self.send(*self.shapes.said(name, blocks, live=True))
        await self._run(command, rest)
        return {"stopReason": "end_turn"} if self.shapes.version < V2.version else {"messageId": name}

    async def _beside(self, message: Message, blocks: Sequence[Mapping[str, JSON]], said: _Said) -> None:
        reason, wrong = "", None
        try:
            reason = await self._answered(message, blocks, said)
        except (HermesError, RpcError) as error:
            if not said.accepted.done():
                said.accepted.set_exception(error)
                return
            told = error if isinstance(error, RpcError) else RpcError(INTERNAL, self.ctx.masks.text(str(error)))
            wrong = told.shape()
        await said.accept()
        await self.send(*self.shapes.state("idle", reason, wrong))

    async def _answered(self, message: Message, blocks: Sequence[Mapping[str, JSON]], said: _Said) -> str:
        """Answer a message, and say why that ended. Raises RpcError, HermesError."""
        try:
            async with self._turn:
                if said.cancelled:
                    return "cancelled"
                await self._before()
                return await self._turned(message, blocks, said)
        finally:
            self._under_way.remove(said)

    async def _turned(self, message: Message, blocks: Sequence[Mapping[str, JSON]], said: _Said) -> str:
        async def stored(_: str) -> None:
            await said.accept()
            await self.send(*self.shapes.said(said.name, blocks, live=True), *self.shapes.state("running"))

        if command := self._command(message):
            answer = await self._run(*command)
            if answer is None:
                await stored("")
                return "end_turn"
            message = answer
        event = os.urandom(16).hex()
        envelope = Envelope(
            platform="acp",
            account="",
            event_id=event,
            chat=self.session.id,
            sender=self.session.owner.person,
            message=message,
        )
        order = TurnOrder(
            session=self.session.id, model=self.side.chosen.get(MODEL, ""), effort=self.side.chosen.get(EFFORT, "")
        )
        turn = self.ctx.turns.run(envelope, order=order, ask=self.ask, stored=stored)
        teller = await self._played(turn, said)
        while not said.cancelled and await self._played(self._resumed("waiting"), said, quietly=True):
            pass
        return teller.reason if teller else "end_turn"

    def _resumed(self, only: Any = "") -> AsyncGenerator[Event, None]:
        chosen = self.side.chosen
        model, effort = chosen.get(MODEL, ""), chosen.get(EFFORT, "")
        return self.ctx.turns.resume(self.session.id, ask=self.ask, only=only, model=model, effort=effort)

    async def _played(self, turn: AsyncGenerator[Event, None], said: _Said, *, quietly: bool = False) -> Teller | None:
        """Show a turn; None where there was none. Raises RpcError for one that failed, unless ``quietly``."""
        teller = Teller(self)
        async with aclosing(turn) as events:
            async for event in events:
                if quietly and not teller.began:
                    await self.send(*self.shapes.state("running"))
                await teller.tell(event)
                if said.cancelled and not teller.over:
                    await self.ctx.turns.interrupt(self.session.id)
        if not teller.began:
            return None
        await self._after()
        if teller.failure and quietly:
            await self.say(teller.failure.text)
        elif teller.failure and not said.cancelled:
            raise self._failed(teller.failure)
        if quietly:
            await self.send(*self.shapes.state("idle", teller.reason))
        return teller

    def _failed(self, failure: Failed) -> RpcError:
        data = {"kind": failure.kind} | ({"hint": failure.hint} if failure.hint else {})
        told = f"{failure.text}\n{failure.hint}" if failure.hint else failure.text
        return RpcError(_CODES.get(failure.kind, INTERNAL), self.ctx.masks.text(told), data)

    async def _before(self) -> None:
        """Ask what is asked before the first words in a folder, and of servers that the editor brings."""
        if self.fresh:
            self.fresh = False
            for line in await self.commands.open(self.session.cwd, self.ask):
                await self.say(line)
        await self.bringing.give(asking=True)

    async def _after(self) -> None:
        """Tell what a turn changed of the session itself."""
        try:
            self.session = await self.ctx.sessions.get(self.session.owner, self.session.id)
        except UnknownName:  # a person deleted it meanwhile
            return
        if self.session.title and self.session.title != self._told_title:
            self._told_title = self.session.title
            await self.send(self.shapes.title(self.session.title))

    async def ask(self, question: Question) -> Verdict | None:
        """Put a question to the person; None where there is no way to, or no person: a tool of ours started this."""
        try:
            self.at_hand.need_person()
        except UserError:
            return None
        try:
            return await self.asking.ask(question)
        except Gone:
            return None

    # --- slash commands ---------------------------------------------------------------------------------------------

    def _command(self, message: Message) -> tuple[SlashCommand, str] | None:
        """Return the command that a message is; what only looks like one is for the model."""
        first = message.parts[0]
        if not isinstance(first, Text) or not first.text.startswith("/") or first.quotes:
            return None
        name, _, rest = first.text.strip().removeprefix("/").partition(" ")
        found = named(self.side.offered(usable(self.commands.table, self.side.role, self.side.place)), name)
        return (found, rest.strip()) if found else None

    async def _run(self, command: SlashCommand, rest: str) -> Message | None:
        """Run a command and tell its answer; a message is for the model. Raises HermesError."""
        before: Sequence[Option] = await self.choices.options()
        answer: str | Message = ""
        try:
            answer = await self.commands.run(self.side, command.name, rest, self.ask)
        except UserError as error:
            await self.say(str(error))
        if isinstance(answer, Message) and answer.role == "user":
            return answer
        parts = answer.parts if isinstance(answer, Message) else (Text(text=answer),)
        name = self.new_name()
        for block in blocks_of(parts):
            if block.get("text") != "":
                await self.send(self.shapes.piece("agent_message", name, block))
        if (after := await self.choices.options()) != before:
            await self.send(*self.shapes.set(after))
        await self._after()
        return None

    async def beside(self, words: str, order: TurnOrder) -> str:
        """Have something done in a session of its own; its id. Raises HermesError."""
        name = await self.ctx.turns.queue(words, order=order)
        self.agent.peer.spawn(self._done_beside(name))
        return name

    async def _done_beside(self, name: str) -> None:
        answer = ""
        try:
            async with aclosing(self.ctx.turns.resume(name, only="waiting")) as events:
                async for event in events:
                    if isinstance(event, Failed | Ended):
                        answer = event.text if isinstance(event, Failed) else event.answer or answer
        except HermesError as error:
            answer = str(error)
        await self.say(f"Done in session {name}:\n\n{answer}")
