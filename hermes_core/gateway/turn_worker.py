"""Plays what waits in a session: the turn that a death cut off, then one message after another."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable
from functools import partial
from typing import Protocol

from hermes_core import trace
from hermes_core.agent.runtime import Runtime
from hermes_core.agent.surface import Surface
from hermes_core.config.gateway import channel_of
from hermes_core.database import Prepared
from hermes_core.gateway.asks import Asked, Asks
from hermes_core.gateway.messages import envelope_of
from hermes_core.gateway.outward.media_out import with_files
from hermes_core.gateway.outward.outgoing import answer_to, said
from hermes_core.gateway.outward.silence import is_silence
from hermes_core.gateway.rows.kept import rows_of
from hermes_core.gateway.turns import Turns
from hermes_core.store.inbox import Waiting
from hermes_core.types import Ended, Envelope, Event, Principal, Started, TurnResult

__all__ = ["Show", "TurnWorker"]


class Show(Protocol):
    """Shows a turn while it runs, where people can see that."""

    async def event(self, event: Event) -> None:
        """One thing that happened."""

    async def close(self) -> None:
        """Nothing more happens."""


class TurnWorker:
    """Plays the sessions of people. ``show`` makes what shows a turn in its chat, or None where nobody can see it."""

    def __init__(
        self,
        runtime: Runtime,
        turns: Turns,
        asks: Asks,
        wake: Callable[[Envelope], None],
        show: Callable[[Asked, str], Show | None],
    ) -> None:
        self._runtime, self._turns, self._asks, self._wake, self._show = runtime, turns, asks, wake, show
        self._plays, self._resting, self._idle = 0, False, asyncio.Event()
        self._idle.set()

    async def rest(self) -> None:
        """Begin no other turn, and wait until those that run have ended: also one that is just about to begin."""
        self._resting = True
        await self._idle.wait()

    async def play(self, session_id: str) -> None:
        """Play everything that waits in a session."""
        self._plays += 1
        self._idle.clear()
        try:
            await self._all(session_id)
        finally:
            self._plays -= 1
            if not self._plays:
                self._idle.set()

    async def _all(self, session_id: str) -> None:
        store = await self._runtime.store()
        owner = await store.sessions.owner(session_id)
        if owner is None:
            return
        cut = await store.inbox.begun_by(session_id)
        if cut is not None and not await self._one(session_id, owner, cut, self._runtime.resume):
            return  # whoever plays it lives
        while not self._resting and (waiting := await store.inbox.waiting(session_id)):
            if not await self._one(session_id, owner, waiting[0], self._runtime.follow):
                return

    async def _one(
        self,
        session_id: str,
        owner: Principal,
        waiting: Waiting,
        play: Callable[..., AsyncGenerator[Event, None]],
    ) -> bool:
        """One turn; False when there was none to play, or somebody else plays it."""
        address = await self._address(session_id, owner, waiting)
        with trace.using(waiting.trace):
            asked = Asked(address=address, owner=owner, session_id=session_id, trace=waiting.trace) if address else None
            surface = await self._surface(session_id, asked)
            shown: Show | None = None
            ended = None
            try:
                async with (
                    self._turns.stoppable(session_id),
                    contextlib.aclosing(play(session_id, owner=owner, surface=surface)) as turn,
                    contextlib.aclosing(self._lively(session_id, turn, asked)) as events,
                ):
                    async for event in events:
                        if isinstance(event, Started) and asked:
                            shown = self._show(asked, event.turn_id)
                        if shown:
                            await shown.event(event)
                        if isinstance(event, Ended):
                            ended = event
                            if address:
                                self._wake(address)
            finally:
                if shown:
                    await asyncio.shield(shown.close())
        return ended is not None and bool(ended.turn_id)

    async def _lively(
        self, session_id: str, events: AsyncGenerator[Event, None], asked: Asked | None
    ) -> AsyncGenerator[Event, None]:
        """The events of a turn. One that gives no sign of life is stopped, and its chat told so."""
        seconds = self._runtime.settings.config.gateway.idle_seconds or None
        while True:
            coming = asyncio.ensure_future(anext(events, None))
            try:
                await asyncio.wait({coming}, timeout=seconds)
                if not coming.done():
                    self._runtime.interrupt(session_id)
                    if asked:
                        await self._say_idle(asked, seconds or 0)
                event = await coming
            finally:
                coming.cancel()
            if event is None:
                return
            yield event

    async def _say_idle(self, asked: Asked, seconds: float) -> None:
        text = f"Nothing happened for {seconds / 60:.0f} minutes, so this turn was stopped. Ask again to go on."
        key = f"idle:{asked.session_id}:{asked.trace}"
        message = answer_to(asked.address, asked.owner, said(text), key=key, trace=asked.trace)
        await rows_of(await self._runtime.store()).outbox.send_later(message)
        self._wake(asked.address)

    async def _address(self, session_id: str, owner: Principal, waiting: Waiting) -> Envelope | None:
        """Where a turn is answered: where its message came from, or, of what was added to it, where that was."""
        if waiting.envelope is not None and waiting.envelope.account:
            return waiting.envelope
        store = await self._runtime.store()
        asked = await store.inbox.asked_from(session_id, owner)
        chat = await rows_of(store).chats.at(owner, asked) if asked else None
        return envelope_of(chat) if chat else None  # else it was said in a terminal, and is answered there

    async def _surface(self, session_id: str, asked: Asked | None) -> Surface:
        routes = await rows_of(await self._runtime.store()).routes.routes_of(session_id)
        chosen = routes[0].overrides if routes else {}
        model, effort = (str(chosen.get(name, "")) for name in ("model", "effort"))
        if asked is None:
            return Surface(model=model, effort=effort)
        here = self._runtime.settings.platform(asked.address.platform)
        usual = channel_of(here, asked.address.chat, asked.address.thread).model
        ask, ends = partial(self._asks.ask, asked), partial(self._ends, asked)
        return Surface(ask=ask, ends=ends, model=model or usual, effort=effort)

    async def _ends(self, of: Asked, result: TurnResult) -> Prepared[object] | None:
        """What says something of a turn's end. One that was stopped was stopped by its person, who was told so."""
        text = {"done": result.answer, "failed": result.error}.get(result.state, "")
        if not text.strip() or is_silence(text):
            return None
        message = (
            said(text) if result.state == "failed" else await with_files(self._runtime, of.session_id, of.owner, text)
        )
        known = {"key": f"turn:{result.turn_id}", "kind": "answer", "trace": of.trace, "session_id": of.session_id}
        outgoing = answer_to(of.address, of.owner, message, turn_id=result.turn_id, **known)
        return await rows_of(await self._runtime.store()).outbox.sending([outgoing])
