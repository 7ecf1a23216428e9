"""The turns of this host as one console of it has them: played in rooms, so that whoever leaves ends nothing."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, Literal, TypeAlias, cast

from attrs import evolve

from hermes_core.brokers import TurnEnds
from hermes_core.context import PluginContext
from hermes_core.kinds import ToolContext
from hermes_core.kinds.console import AskPerson
from hermes_core.types import (
    Envelope,
    Event,
    Message,
    Noticed,
    Principal,
    Question,
    Session,
    Speaker,
    Text,
    TurnOrder,
    Verdict,
)
from hermes_platform_host.one_shot import folder_for
from hermes_platform_host.rooms import Listener, Rooms, Told
from hermes_platform_kit.clean import clean
from hermes_platform_kit.shared import Answered, SharedTurns

__all__ = ["Shared"]

Seen: TypeAlias = Event | Question | Answered


class Shared(SharedTurns):
    """See SharedTurns. ``cwd`` is the folder of whoever is at the console."""

    def __init__(self, ctx: PluginContext, rooms: Rooms, cwd: str, *, stays: bool = False) -> None:
        self._turns, self._rooms, self.stays = ctx.turns, rooms, stays
        self.folder = folder_for(ctx, cwd)
        self._seen: asyncio.Queue[tuple[str, Seen]] = asyncio.Queue()
        self._in: dict[str, Listener] = {}
        self._said: set[str] = set()  # the sessions in which something was said here

    # --- what others do ---------------------------------------------------------------------------------------------

    async def join(self, session: str) -> None:
        if session in self._in:
            return
        room = self._rooms.room(session)
        fresh = not room.watched

        def told(one: Told) -> None:
            if (seen := self._of(one)) is not None:
                self._seen.put_nowait((session, seen))

        self._in[session] = told
        room.listen(told, by=self)
        for event in room.unstored if room.by is not self else ():
            told(event)
        for question, _ in room.questions.values():
            told({"ask": question})
        if fresh:
            await room.others.skip()

    def leave(self) -> None:
        """Take part in nothing any more. What runs goes on, and so does what was said for after it."""
        for session, told in self._in.items():
            room = self._rooms.room(session)
            if room.playing or session in self._said:  # what waits may be left by a turn that has just ended
                room.play(*(self._turns.resume(session, ask=room.ask) for _ in range(2)))
            room.stop_listening(told)
        self._in = {}

    def _of(self, one: Told) -> Seen | None:
        if not isinstance(one, Mapping):
            return one
        if isinstance(question := one.get("ask"), Question):
            return question
        if isinstance(question := one.get("settled"), Question):
            return Answered(question=question, verdict=cast("Verdict | None", one.get("verdict")))
        if (text := one.get("said")) and one.get("by") is not self:
            return Noticed(text=f"› {clean(str(text))}")
        return None

    async def watch(self) -> AsyncIterator[tuple[str, Seen]]:
        while True:
            yield await self._seen.get()

    def answer(self, question: str, verdict: Verdict) -> bool:
        return any(self._rooms.room(one).answer(question, verdict) for one in self._in)

    def kept(self, session: str) -> str:
        return self._rooms.room(session).kept() if session in self._in else ""

    def decline(self, question: str) -> None:
        for one in self._in:
            self._rooms.room(one).decline(question, self)

    # --- turns ------------------------------------------------------------------------------------------------------

    async def take_up(
        self, session: str = "", *, owner: Principal | None = None, origin: str = "", system: str = "", folder: str = ""
    ) -> Session:
        folder = folder or ("" if session else self.folder)
        taken = await self._turns.take_up(session, owner=owner, origin=origin, system=system, folder=folder)
        await self.join(taken.id)
        return taken

    async def run(
        self,
        message: str | Message | Envelope,
        *,
        owner: Principal | None = None,
        order: TurnOrder | None = None,
        ask: AskPerson | None = None,
        call: ToolContext | None = None,
        stored: Callable[[str], Awaitable[None]] | None = None,
        ends: TurnEnds | None = None,
    ) -> AsyncGenerator[Event, None]:
        session = order.session if order else ""
        if session:
            self._tell(session, message)
        room = self._rooms.room(session)
        asked = room.ask if ask and session else ask
        turn = self._turns.run(message, owner=owner, order=order, ask=asked, call=call, stored=stored, ends=ends)
        async with contextlib.aclosing(room.shown(turn, by=self) if session else turn) as events:
            async for event in events:
                yield event

    async def resume(
        self,
        session: str,
        *,
        owner: Principal | None = None,
        ask: AskPerson | None = None,
        ends: TurnEnds | None = None,
        only: Literal["", "cut", "waiting"] = "",
        model: str = "",
        effort: str = "",
        speaker: Speaker | None = None,
    ) -> AsyncGenerator[Event, None]:
        room, known = self._rooms.room(session), {"owner": owner, "ends": ends, "only": only, "speaker": speaker}
        more: dict[str, Any] = {**known, "ask": room.ask if ask else None, "model": model, "effort": effort}
        async with contextlib.aclosing(room.shown(self._turns.resume(session, **more), by=self)) as events:
            async for event in events:
                yield event

    async def queue(
        self, message: str | Message | Envelope, *, owner: Principal | None = None, order: TurnOrder | None = None
    ) -> str:
        order = order or TurnOrder()
        if order.session:
            self._tell(order.session, message)
        elif not (order.fork or order.folder):
            order = evolve(order, folder=self.folder)
        return await self._turns.queue(message, owner=owner, order=order)

    async def steer(self, session: str, message: str | Message | Envelope, *, owner: Principal | None = None) -> None:
        self._tell(session, message)
        await self._turns.steer(session, message, owner=owner)

    async def interrupt(self, session: str, *, owner: Principal | None = None, elsewhere: bool = False) -> bool:
        return await self._turns.interrupt(session, owner=owner, elsewhere=elsewhere)

    async def busy(self, session: str, *, owner: Principal | None = None, elsewhere: bool = True) -> bool:
        return await self._turns.busy(session, owner=owner, elsewhere=elsewhere)

    def _tell(self, session: str, message: str | Message | Envelope) -> None:
        """Let the others in a session see what is said here."""
        said = message.message if isinstance(message, Envelope) else message
        parts = said.parts if isinstance(said, Message) else (Text(text=said),)
        text = "".join(part.text for part in parts if isinstance(part, Text)).strip()
        self._said.add(session)
        self._rooms.room(session).tell({"said": text, "by": self})
