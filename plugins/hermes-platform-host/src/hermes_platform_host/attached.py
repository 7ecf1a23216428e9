"""``hermes attach``: a terminal that looks on, writes and answers in a session of this host."""

import asyncio
import contextlib
import os
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError, UnknownName
from hermes_core.patterns import pattern
from hermes_core.types import Ended, Envelope, Message, Question, Session, Text, TurnOrder, Verdict
from hermes_platform_host.config import Config
from hermes_platform_host.one_shot import folder_for
from hermes_platform_host.rooms import Queue, Room, Rooms
from hermes_platform_host.screens import Screen
from hermes_platform_host.typed import Typed
from hermes_platform_kit.asking import choice_of, lines_of, outcome_line, verdict_of
from hermes_platform_kit.clean import clean

__all__ = ["attached"]

_COMMAND = pattern(r"/[a-z][a-z0-9-]*")
_LEAVE = ("/quit", "/exit")
_OVER = "It is asked no longer: it was answered elsewhere, or the turn ended."
_LATE = "That was answered elsewhere just before, and what you wrote was not sent. Write it again if it is a message."
_ANOTHER = "That was answered elsewhere just before, and something else is asked now: answer again, if it is for that."
_WORDS = 3.0  # seconds in which a line is taken for the answer to what was just answered elsewhere in words
_CHOICE = 15.0  # the same, of a line that is one of its choices
_ORIGIN = "cli"  # what begins here is a conversation of a terminal


async def attached(
    ctx: PluginContext, rooms: Rooms, screen: Screen, frames: AsyncIterator[Mapping[str, Any]], cwd: str
) -> None:
    """Let a terminal take part in a session until it leaves. What runs goes on."""
    told = await anext(frames, None)
    if told is None:
        return
    try:
        session = await _session(ctx, rooms, str(told.get("session") or ""), cwd)
    except HermesError as error:
        screen.answers.tell(ctx.masks.text(str(error)))
        screen.send(x=2)
        return
    seat = _Seat(ctx, rooms, screen, session, cwd)
    try:
        await seat.greet(session)
        showing = asyncio.create_task(seat.show())
        try:
            await seat.hear(frames)
        finally:
            showing.cancel()
    finally:
        seat.leave()
    screen.send(x=0)


async def _session(ctx: PluginContext, rooms: Rooms, words: str, cwd: str) -> Session:
    """What a terminal means: the session it names, else one here in which something runs or somebody is.

    Else the last one, else a new one.
    """
    if not words and (there := rooms.playing() or rooms.needed()):
        return await ctx.turns.take_up(there[-1])
    try:
        return await ctx.sessions.find(ctx.owner, words or "latest")
    except UnknownName:
        if words and words != "latest":
            raise
        return await ctx.turns.take_up(origin=_ORIGIN, folder=folder_for(ctx, cwd))


class _Seat:
    """One terminal in a room; it may go to another."""

    def __init__(self, ctx: PluginContext, rooms: Rooms, screen: Screen, session: Session, cwd: str) -> None:
        self._ctx, self._rooms, self._screen = ctx, rooms, screen
        self._tell = screen.answers.tell
        self._room: Room = rooms.room(session.id)
        self._queue: Queue = self._room.enter()
        self._typed = Typed(ctx, rooms, session, self.go, screen.answers.tell, folder_for(ctx, cwd))
        self._command: asyncio.Task[None] | None = None
        self._mine: set[str] = set()  # questions that were answered here
        self._settled: tuple[Question, float] | None = None  # what was answered elsewhere last, and when

    async def go(self, session: Session) -> None:
        """Go to the room of another session, and show what was said there."""
        self._room.leave(self._queue)
        self._room = self._rooms.room(session.id)
        self._room.listen(self._queue.put_nowait)
        await self.greet(session)

    async def greet(self, session: Session) -> None:
        """Show what was said before, and what is being said."""
        self._screen.send(s=session.id)
        self._tell(f"session {session.id}{f': {clean(session.title)}' if session.title else ''}")
        past: Sequence[Message] = ()
        with contextlib.suppress(UnknownName):  # nothing was said in it yet
            past = await self._ctx.sessions.past(self._ctx.owner, session.id)
        if self._room.others.seen is None:
            self._room.others.seen = len(past)
        for message in past[-most:] if (most := (self._ctx.config or Config()).shown) else ():
            text = "".join(part.text for part in message.parts if isinstance(part, Text)).strip()
            if text and message.role == "user":
                self._tell(f"› {clean(text)}")
            elif text and message.role == "assistant":
                self._screen.send(o=f"{clean(text)}\n")
        await self.catch_up()

    def leave(self) -> None:
        """Leave the room. What runs in it goes on."""
        if self._command:
            self._command.cancel()
        self._room.leave(self._queue)

    async def catch_up(self) -> None:
        """Show what is being said, and what is asked; let go on what a death cut off, as ``-r`` does."""
        for event in self._room.past:
            self._screen.answers.verbose(event)
        for question, _ in self._room.questions.values():
            self._ask(question)
        if not self._room.playing and not await self._ctx.turns.busy(self._room.session):
            self._room.play(*self._left_over())

    async def show(self) -> None:
        """Show what happens in the room."""
        while True:
            one = await self._queue.get()
            if isinstance(one, dict):
                if isinstance(question := one.get("ask"), Question):
                    self._ask(question)
                elif isinstance(question := one.get("settled"), Question):
                    verdict = one.get("verdict")
                    how = outcome_line(question, verdict) if isinstance(verdict, Verdict) else _OVER
                    self._settled = None if question.id in self._mine else (question, time.monotonic())
                    self._tell(how)
                    self._screen.send(settled=question.id, how=how)
                elif (line := one.get("said")) and one.get("by") is not self:
                    self._tell(f"› {clean(str(line))}")
            elif one is not None:
                self._screen.answers.verbose(one)  # type: ignore[arg-type]  # what is no mapping is an event
                if isinstance(one, Ended) and one.reason == "interrupted":
                    self._tell("Interrupted.")

    def _ask(self, question: Question) -> None:
        self._tell("\n".join(lines_of(question)))
        self._screen.send(ask=question.id)

    async def hear(self, frames: AsyncIterator[Mapping[str, Any]]) -> None:
        """Do what the person wants, until they leave."""
        async for told in frames:
            try:
                if isinstance(text := told.get("say"), str) and text.strip():
                    if self._command:
                        await asyncio.wait({self._command})
                    if text.strip() in _LEAVE:
                        return
                    await self._said(text)
                elif told.get("interrupt"):
                    if not (self._command and self._command.cancel()):
                        await self._ctx.turns.interrupt(self._room.session)
                elif told.get("leave"):
                    if told.get("wait"):  # nobody types there: what was written is to be answered
                        if self._command:
                            await asyncio.wait({self._command})
                        await self._room.rest()
                        await asyncio.sleep(0)
                    return
            except HermesError as error:
                self._tell(self._ctx.masks.text(str(error)))

    async def _said(self, text: str) -> None:
        """Take a line as the answer to what is asked, else as a message."""
        if self._room.questions:
            if self._late(text.strip(), stands=True):
                self._tell(_ANOTHER)
                return
            question, _ = next(iter(self._room.questions.values()))
            choice = text.strip() if question.kind == "text" else choice_of(question, text.strip())
            if choice is None and question.kind == "choice":
                choice = text.strip()  # in their own words
            if choice is None:
                self._tell(f"That is none of: {', '.join(question.choices)}")
                return
            self._mine.add(question.id)
            if not self._room.answer(question.id, verdict_of(question, choice, f"{self._ctx.owner.person}, attached")):
                self._mine.discard(question.id)
                self._tell(_LATE)
            return
        if self._late(text.strip()):
            self._tell(_LATE)
            return
        if _COMMAND.fullmatch(text.partition(" ")[0].strip()):
            self._command = asyncio.create_task(self._run(text.strip()))
            return
        await self._say(text)

    def _late(self, text: str, *, stands: bool = False) -> bool:
        """Whether a line was the answer to what somebody else has just answered; that is told once.

        Where another question stands, it is so for a shorter time.
        """
        if self._settled is None:
            return False
        (question, at), self._settled = self._settled, None
        chosen = question.kind != "text" and choice_of(question, text) is not None
        meant = (_WORDS if stands else _CHOICE) if chosen else 0.0 if question.kind == "approval" else _WORDS
        return time.monotonic() - at < meant

    async def _run(self, text: str) -> None:
        """Carry a slash command out, and show what it says."""
        try:
            said = await self._typed.run(text)
        except HermesError as error:
            said = self._ctx.masks.text(str(error))
        except asyncio.CancelledError:
            self._tell("Stopped.")
            raise
        finally:
            self._command = None
        if isinstance(said, Message) and said.role == "user":
            await self._say("".join(part.text for part in said.parts if isinstance(part, Text)), said)
        elif text := said if isinstance(said, str) else "".join(p.text for p in said.parts if isinstance(p, Text)):
            self._tell(clean(text))

    async def _say(self, text: str, message: Message | None = None) -> None:
        """Say something to the running turn, or have it answered."""
        self._room.tell({"said": text, "by": self})
        envelope = self._envelope(text, message)
        if await self._ctx.turns.busy(self._room.session):
            await self._ctx.turns.steer(self._room.session, envelope)
            self._tell("(It is told with the next result, or after the turn.)")
            self._room.play(*self._left_over())  # the turn may have ended by now
            return
        order = TurnOrder(session=self._room.session, **self._typed.answers)
        self._room.play(self._ctx.turns.run(envelope, order=order, ask=self._room.ask), *self._left_over())

    def _left_over(self) -> list[Any]:
        """What a death cut off, and what was said too late for the turn before."""
        known = self._typed.answers
        return [self._ctx.turns.resume(self._room.session, ask=self._room.ask, **known) for _ in range(2)]

    def _envelope(self, text: str, said: Message | None) -> Envelope:
        message, event = said or Message(role="user", parts=(Text(text=text),)), os.urandom(16).hex()
        person = self._ctx.owner.person
        return Envelope(
            platform=_ORIGIN, account="", event_id=event, chat=self._room.session, sender=person, message=message
        )
