"""Carrying messages between one platform and the agent.

An envelope is stored before it is acknowledged, a slash command is run by the kernel, anything else is a turn. Each
chat has one turn at a time; what arrives meanwhile is stored and waits, steers the turn, or stops it: ``agent.busy``.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from typing import Any

from attrs import evolve

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError, UserError
from hermes_core.kinds import Platform
from hermes_core.kinds.console import AskPerson
from hermes_core.slash import QUEUED, STEERED
from hermes_core.types import (
    Chat,
    Ended,
    Envelope,
    Event,
    Failed,
    Feature,
    Message,
    Question,
    Session,
    Started,
    Text,
    TurnOrder,
    Usage,
    Verdict,
    Waiting,
)
from hermes_platform_cli.console.chats import Chats
from hermes_platform_cli.console.conversation import BEHIND, WAITS
from hermes_platform_cli.console.typed import outcome
from hermes_platform_kit.shared import Answered, SharedTurns

__all__ = ["ConsoleSession"]

log = logging.getLogger(f"hermes.{__name__}")
_LOOK = 1.0  # seconds between two looks for a turn that a plugin ordered in a conversation that rests


class ConsoleSession(Chats):
    """Serves one platform until the people on it leave."""

    def __init__(
        self, ctx: PluginContext, platform: Platform, *, session: str, require: Callable[[str, str], None]
    ) -> None:
        super().__init__(ctx, platform, session=session, require=require)
        self._waiting: dict[str, asyncio.Queue[Envelope | None]] = {}
        self._playing: dict[str, asyncio.Task[None]] = {}  # what was begun last in each chat
        self._workers: set[asyncio.Task[None]] = set()
        self._unstored: set[str] = set()  # events of what came and is not written down
        self._others: dict[str, asyncio.Event] = {}  # the end of a turn that another screen began, by chat
        self._asked: dict[str, asyncio.Task[None]] = {}  # what is put to this screen and to others, by its question

    async def serve(self) -> None:
        """Carry messages until ``receive`` ends; then finish what was begun."""
        first = self._first_session
        await self._platform.open(self)
        shared = self._shared
        watching = asyncio.create_task(self._watch(shared)) if shared else None
        try:
            if shared and first:
                await shared.join(first)
            elsewhere = shared and first and await self._ctx.turns.busy(first)  # it is shown as it goes on
            if first and not elsewhere and Feature.LIVE in self._platform.features:  # there is one chat, and it goes on
                ended = [first]
                while any(ended):
                    ended = []
                    await self._carry("", self._ctx.turns.resume(first, ask=self._asking("")), ended)
            if not first:
                await self._opening()
            receiving, left = asyncio.create_task(self._receive()), asyncio.create_task(self._typed.left.wait())
            looking = asyncio.create_task(self._look())
            try:
                await asyncio.wait({receiving, left}, return_when=asyncio.FIRST_COMPLETED)
                if receiving.done():
                    receiving.result()
            finally:
                for task in (receiving, left, looking):
                    task.cancel()
                await asyncio.wait({receiving, left, looking})
            for queue in self._waiting.values():
                queue.put_nowait(None)
            if shared is None or shared.stays:
                await asyncio.gather(*self._workers, *self._playing.values())
            else:  # what runs goes on without this screen, and what it said last is not lost
                await self._stored()
        finally:
            beside = [*self._workers, *self._playing.values(), *self._typed.beside, *self._asked.values()]
            beside += [watching] if watching else []
            for worker in beside:
                worker.cancel()
            await asyncio.gather(*beside, return_exceptions=True)
            await self._platform.close()

    async def _opening(self) -> None:
        """Ask what comes before the first words, and say what came of it."""
        folder = (self._shared.folder if self._shared else "") or self._typed.slash.status(None).get("cwd", "")
        for number, text in enumerate(await self._typed.slash.open(folder, self._asking(""))):
            await self._tell(Chat(""), text, f"opening:{number}:")

    async def _receive(self) -> None:
        async for envelope in self._platform.receive():
            if self._typed.left.is_set():
                return
            queue = self._waiting.get(envelope.chat)
            if queue is None:
                queue = self._waiting[envelope.chat] = asyncio.Queue()
                worker = asyncio.create_task(self._work(envelope.chat, queue), name=f"chat:{envelope.chat}")
                self._workers.add(worker)
            self._unstored.add(envelope.event_id)
            queue.put_nowait(envelope)

    async def _ack(self, envelope: Envelope) -> None:
        self._unstored.discard(envelope.event_id)
        await self._platform.ack(envelope)

    async def _stored(self) -> None:
        """Wait until what came is written down. Nobody waits for this, so it may take its time."""
        while self._unstored:  # noqa: ASYNC110 - it happens once
            await asyncio.sleep(0.01)

    # --- what others do in the same session ---------------------------------------------------------------------------

    async def _watch(self, shared: SharedTurns) -> None:
        """Show what other screens of the session begin, and put to this one what is asked in it."""
        async for session, one in shared.watch():
            chat = next((name for name, it in self._chats.items() if session in (it.wanted, _id(it.session))), None)
            if chat is None:
                continue
            if isinstance(one, Question):
                self._asked[one.id] = asyncio.create_task(self._ask(shared, chat, one))
            elif isinstance(one, Answered):
                if asked := self._asked.pop(one.question.id, None):
                    asked.cancel()
            else:
                self._follow(chat, one)
                await self._platform.show(Chat(chat), one)

    def _follow(self, chat: str, event: Event) -> None:
        """Take note of a turn of another screen: what is said here meanwhile is said to that."""
        if isinstance(event, Started):
            self._chats[chat].over, self._others[chat] = False, asyncio.Event()
            playing = self._playing.get(chat)
            if playing is None or playing.done():
                self._playing[chat] = asyncio.create_task(_over(self._others[chat]))
        elif isinstance(event, Ended) and (over := self._others.pop(chat, None)):
            self._chats[chat].over = True
            over.set()

    async def _ask(self, shared: SharedTurns, chat: str, question: Question) -> None:
        verdict = await self._asking(chat)(question)
        if verdict is None and shared.stays:
            shared.decline(question.id)
        elif verdict is not None and not shared.answer(question.id, verdict):
            await self._tell(Chat(chat), "It was answered elsewhere, and this answer was not sent.", question.id)

    async def _look(self) -> None:
        """Play what a plugin ordered in a conversation that rests, such as that a process of it has ended."""
        while True:
            await asyncio.sleep(_LOOK)
            for chat, conversation in list(self._chats.items()):
                if not self._rests(chat):
                    continue
                if conversation.session is None and conversation.wanted:  # what goes on by itself there goes on here
                    with contextlib.suppress(HermesError):
                        await conversation.take_up()
                if (session := conversation.session) is None:
                    continue
                waiting: Sequence[Waiting] = ()
                with contextlib.suppress(HermesError):  # the next look sees it
                    waiting = await self._ctx.host.turns.waiting(session.id)
                ordered = [one for one in waiting if one.envelope and "/" in one.envelope.platform]
                if ordered and self._rests(chat) and conversation.session is session:
                    conversation.over = False
                    nobody = Message(role="user", parts=())
                    known: dict[str, Any] = {
                        "platform": self._platform.name,
                        "account": "",
                        "sender": "",
                        "message": nobody,
                    }
                    envelope = Envelope(event_id=f"ordered:{ordered[0].id}", chat=chat, **known)
                    self._begin(None, envelope, self._rest(envelope))

    def _rests(self, chat: str) -> bool:
        """Whether nothing is under way in a chat, and nothing came that is not seen to yet."""
        queue, playing = self._waiting.get(chat), self._playing.get(chat)
        working = chat in self._typed.working
        return not working and (queue is None or queue.empty()) and (playing is None or playing.done())

    def _begin(
        self, before: "asyncio.Task[None] | None", envelope: Envelope, work: Coroutine[None, None, bool]
    ) -> None:
        self._playing[envelope.chat] = asyncio.create_task(self._after(before, envelope, work))

    async def _work(self, chat: str, queue: "asyncio.Queue[Envelope | None]") -> None:
        """Play what comes, one after another; what comes while a turn runs and need not wait for it is seen to now."""
        try:
            while envelope := await queue.get():
                playing = self._playing.get(chat)
                before = playing if playing and not playing.done() else None
                if chat in self._typed.working and _words(envelope) == "/stop":
                    await self._ack(envelope)
                    await self.interrupt(chat)
                    continue
                conversation = self._conversation(chat)
                conversation.behind = conversation.behind and before is not None
                if before and not conversation.over and await self._surely(envelope, self._meanwhile(envelope)):
                    self._begin(before, envelope, self._rest(envelope))
                    continue
                if not before:
                    conversation.over = _is_command(envelope)
                self._begin(before, envelope, self._one(envelope))
            if playing := self._playing.get(chat):
                await playing
        finally:
            if playing := self._playing.get(chat):
                playing.cancel()
                await asyncio.wait({playing})

    async def _after(
        self, before: "asyncio.Task[None] | None", envelope: Envelope, work: Coroutine[None, None, bool]
    ) -> None:
        try:
            if before:
                await asyncio.wait({before})
            await self._surely(envelope, work)
        finally:
            self._unstored.discard(envelope.event_id)
            work.close()  # when it never began
            if before:
                before.cancel()

    async def _surely(self, envelope: Envelope, work: Coroutine[None, None, bool]) -> bool:
        """Do something for an envelope; a failure is told. What it gives, and True when it failed."""
        try:
            return await work
        except HermesError as error:
            await self._fail(envelope, error)
        except Exception as error:
            log.exception("a message could not be carried")
            await self._fail(envelope, HermesError(f"{type(error).__name__}: {error}", hint="See `hermes logs`."))
        return True

    async def _one(self, envelope: Envelope) -> bool:
        if _is_command(envelope):
            await self._command(envelope)
        else:
            await self._turn(envelope)
        return await self._rest(envelope)

    async def _meanwhile(self, envelope: Envelope) -> bool:
        """Something comes while a turn runs. False: it has to wait for the end of the turn."""
        conversation = self._conversation(envelope.chat)
        if _is_command(envelope):
            if not self._typed.at_once(_words(envelope)):
                conversation.behind = True
                await self._say(envelope, WAITS, "waits:")
                return False
            await self._command(envelope)
            return True
        if conversation.behind:
            await self._say(envelope, BEHIND, "waits:")
            return False
        session = await conversation.take_up()
        mode, turns = self._typed.slash.conversation(conversation, session).busy(), self._ctx.turns
        steer = mode == "steer" and await turns.busy(session.id)
        if steer:
            await turns.steer(session.id, envelope)
        came = steer or await turns.queue(envelope, order=TurnOrder(session=session.id))
        await self._ack(envelope)
        if not came:  # it came before: it waits, or it is what runs
            return True
        if mode == "interrupt":
            await turns.interrupt(session.id)
        else:
            await self._say(envelope, STEERED if steer else QUEUED)
        return True

    async def _rest(self, envelope: Envelope) -> bool:
        """Play what waits in the session, one after another."""
        conversation = self._conversation(envelope.chat)
        while session := conversation.session:
            ended: list[str] = []
            model, effort = conversation.answers
            turn = self._ctx.turns.resume(session.id, ask=self._asking(envelope.chat), model=model, effort=effort)
            text = await self._carry(envelope.chat, turn, ended)
            if not any(ended):  # nothing waits, or what waits cannot be played now
                break
            if text:
                await self._say(envelope, text, f"{ended[0]}:")
        return True

    async def _fail(self, envelope: Envelope, error: HermesError) -> None:
        """Every envelope ends in a message or an Ended event, whatever happened."""
        self._unstored.discard(envelope.event_id)
        if Feature.LIVE in self._platform.features:
            await self._platform.show(_chat(envelope), self._failed(error))
            ended = Ended(session_id="", turn_id="", answer="", reason="failed", usage=Usage())
            await self._platform.show(_chat(envelope), ended)
        else:
            await self._say(envelope, self._ctx.masks.text(str(error)), "failed")

    def _failed(self, error: HermesError) -> Failed:
        kind = "".join(f"_{c.lower()}" if c.isupper() else c for c in type(error).__name__).lstrip("_")
        return Failed(kind=kind, text=self._ctx.masks.text(error.text), hint=self._ctx.masks.text(error.hint))

    async def _command(self, envelope: Envelope) -> None:
        await self._ack(envelope)
        self._conversation(envelope.chat)
        answer: str | Message
        try:
            answer = await self._typed.run(envelope.chat, _words(envelope))
        except HermesError as error:
            answer = str(error)
        if isinstance(answer, Message) and answer.role == "user":
            await self._turn(evolve(envelope, message=answer))
        elif isinstance(answer, Message):
            await self._platform.send(_chat(envelope), answer, f"{envelope.event_id}:asks")
        elif answer:
            await self._say(envelope, answer)

    async def _turn(self, envelope: Envelope) -> None:
        conversation = self._conversation(envelope.chat)
        conversation.last = envelope.message
        model, conversation.once = conversation.once, ""
        ask = self._asking(envelope.chat)

        async def stored(_session: str) -> None:
            await self._ack(envelope)

        session = await conversation.take_up()
        if conversation.resumes:  # what was interrupted comes before what is new
            conversation.resumes = False
            await self._rest(envelope)
        chosen, effort = conversation.answers
        order = TurnOrder(session=session.id, model=model or chosen, effort=effort)
        turn = self._ctx.turns.run(envelope, order=order, ask=ask, stored=stored)
        if text := await self._carry(envelope.chat, turn, []):
            await self._say(envelope, text)

    def _asking(self, chat: str) -> AskPerson:
        async def ask(question: Question) -> Verdict | None:
            try:
                self._typed.need_person()
            except UserError:  # who types here is none
                return None
            return await self._platform.ask(Chat(chat), question)

        return ask

    async def _carry(self, chat: str, turn: AsyncGenerator[Event, None], ended: list[str]) -> str:
        """Show a turn as it happens; what is left to be said when the platform shows none. Its id goes to ``ended``."""
        live, types = (f in self._platform.features for f in (Feature.LIVE, Feature.TYPING))
        answer, failure, event = "", "", None
        async with contextlib.aclosing(turn) as events:
            async for event in events:
                if live or (types and isinstance(event, Started)):
                    await self._platform.show(Chat(chat), event)
                answer, failure = outcome(event, answer, failure)
                if isinstance(event, Started | Ended) and (conversation := self._chats.get(chat)):
                    conversation.over = isinstance(event, Ended)
                if isinstance(event, Ended):
                    ended.append(event.turn_id)
        return "" if live or event is None else answer or failure or "(no answer)"

    async def _say(self, envelope: Envelope, text: str, mark: str = "") -> None:
        await self._tell(_chat(envelope), text, f"{envelope.event_id}:{mark}")


def _chat(envelope: Envelope) -> Chat:
    return Chat(envelope.chat, envelope.thread)


def _words(envelope: Envelope) -> str:
    return "".join(p.text for p in envelope.message.parts if isinstance(p, Text)).strip()


def _is_command(envelope: Envelope) -> bool:
    text = _words(envelope)
    return text.startswith("/") and not text.startswith("//")


def _id(session: Session | None) -> str:
    return session.id if session else ""


async def _over(event: asyncio.Event) -> None:
    await event.wait()
