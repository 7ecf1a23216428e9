"""Plays what waits in a session: the turn that a death cut off, then the message that waits longest."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from functools import partial
from typing import Any, Literal, Protocol

from attrs import evolve

from hermes_core import trace
from hermes_core.context import PluginContext
from hermes_core.database import Prepared
from hermes_core.errors import StoreError, UserError
from hermes_core.types import Ended, Envelope, Event, Principal, Speaker, Started, TurnResult, Waiting
from hermes_platform_gateway.asks import Asks
from hermes_platform_gateway.config import channel_of, gateway_settings, platform_settings
from hermes_platform_gateway.outward.media_out import with_files
from hermes_platform_gateway.outward.outgoing import answer_to, envelope_of, said
from hermes_platform_gateway.outward.silence import is_silence
from hermes_platform_gateway.people.access import Access
from hermes_platform_gateway.questions import Asked
from hermes_platform_gateway.refusals import without_places
from hermes_platform_gateway.rows.kept import is_order_of, rows_of
from hermes_platform_gateway.turns import Turns

__all__ = ["Show", "TurnWorker"]


class Show(Protocol):
    """Shows a turn while it runs, where people can see that."""

    async def event(self, event: Event) -> None:
        """One thing that happened."""

    async def close(self) -> None:
        """Nothing more happens."""


class TurnWorker:
    """Plays the sessions of people. ``show`` makes what shows a turn in its chat, or None where nobody can see it.

    ``again`` puts a session into the queue, for what waits in it after one turn.
    """

    def __init__(
        self,
        ctx: PluginContext,
        turns: Turns,
        asks: Asks,
        wake: Callable[[Envelope], None],
        show: Callable[[Asked, str], Show | None],
        again: Callable[[str, Principal], Awaitable[None]],
        access: Callable[[Envelope], Awaitable[Access]],
    ) -> None:
        """``access`` says of a message that waited what is known of its sender by now."""
        self._ctx, self._turns, self._asks, self._wake, self._show = ctx, turns, asks, wake, show
        self._again, self._access = again, access
        self._plays, self._resting, self._idle = 0, False, asyncio.Event()
        self._idle.set()

    def begin_no_more(self) -> None:
        """Begin no other turn: what waits is for the next start."""
        self._resting = True

    async def rest(self) -> None:
        """Wait until the turns that run have ended, and begin no other: also one that is just about to begin."""
        self.begin_no_more()
        await self._idle.wait()

    async def play(self, session_id: str) -> None:
        """Play what was cut off in a session, and the first turn that waits; the others wait for their place again."""
        self._plays += 1
        self._idle.clear()
        try:
            await self._all(session_id)
        finally:
            self._plays -= 1
            if not self._plays:
                self._idle.set()

    async def _all(self, session_id: str) -> None:
        turns = self._ctx.host.turns
        owner = await turns.owner(session_id)
        if owner is None or self._resting or await self._given_up(session_id, owner):
            return
        cut = await turns.cut(session_id)
        if cut is not None and not await self._one(session_id, owner, cut, "cut"):
            return  # whoever plays it lives
        while not self._resting and (waiting := await turns.waiting(session_id)):
            if not await self._one(session_id, owner, waiting[0], "waiting"):
                return
            if len(waiting) > 1 and not self._resting:  # one that came meanwhile was put when it came
                with contextlib.suppress(StoreError):  # else nobody can be told that it waits, so it goes on here
                    await self._again(session_id, owner)
                    return

    async def _given_up(self, session_id: str, owner: Principal) -> bool:
        """Give up what waits for somebody who is blocked, whoever ordered it; whether that is so."""
        if owner == self._ctx.owner or not (await self._ctx.host.rights(owner)).silent:
            return False
        with contextlib.suppress(UserError):  # it runs elsewhere, where it is stopped
            await self._ctx.turns.drop(session_id, owner=owner)
        return True

    async def _one(
        self,
        session_id: str,
        owner: Principal,
        waiting: Waiting,
        only: Literal["cut", "waiting"],
    ) -> bool:
        """One turn; False when there was none to play, or somebody else plays it."""
        address = await self._address(session_id, owner, waiting)
        with trace.using(waiting.trace):
            unasked = waiting.envelope is not None and is_order_of(waiting.envelope, owner)
            known: dict[str, Any] = {"session_id": session_id, "trace": waiting.trace, "unasked": unasked}
            asked = Asked(address=address, owner=owner, **known) if address else None
            hidden = unasked and address is not None and await self._is_quiet(owner, address)
            order = waiting.envelope.order if waiting.envelope else None
            lasting = bool(order and order.ask)
            speaker = await self._speaker(waiting, owner)
            origin = await self._origin(session_id, asked, speaker, lasting=lasting)
            silent = (await self._ctx.host.rights(owner, speaker)).silent
            shown: Show | None = None
            ended = None
            try:
                async with (
                    self._turns.stoppable(session_id, owner),
                    contextlib.aclosing(self._ctx.turns.resume(session_id, owner=owner, only=only, **origin)) as turn,
                    contextlib.aclosing(self._lively(session_id, owner, turn, asked, lasting=lasting)) as events,
                ):
                    async for event in events:
                        if isinstance(event, Started) and asked and not (hidden or silent):
                            shown = self._show(asked, event.turn_id)
                        if shown:
                            await shown.event(event)
                        if isinstance(event, Ended):
                            ended = event
                            if address:
                                self._wake(address)
            finally:
                self._asks.tidy_soon(session_id)
                if shown:
                    await asyncio.shield(shown.close())
        return ended is not None and bool(ended.turn_id)

    async def _lively(
        self,
        session_id: str,
        owner: Principal,
        events: AsyncGenerator[Event, None],
        asked: Asked | None,
        *,
        lasting: bool,
    ) -> AsyncGenerator[Event, None]:
        """The events of a turn. One that gives no sign of life is stopped, and its chat told so.

        Not while a question of it is open that is ``lasting``, or asks for words: that one ends by itself.
        """
        seconds = gateway_settings(self._ctx).idle_seconds or None
        while True:
            coming = asyncio.ensure_future(anext(events, None))
            try:
                asks = False
                while not (await asyncio.wait({coming}, timeout=seconds))[0]:
                    before, asks = asks, await self._asks.is_open(owner, session_id, lasting=lasting)
                    if not before and not asks:  # once it is answered, there is as long again
                        break
                if not coming.done():
                    await self._ctx.turns.interrupt(session_id, owner=owner)
                    if asked:
                        await self._say_idle(asked, seconds or 0)
                event = await coming
            finally:
                coming.cancel()
                await asyncio.wait({coming})  # the turn cannot be closed before
            if event is None:
                return
            yield event

    async def _say_idle(self, asked: Asked, seconds: float) -> None:
        text = f"Nothing happened for {seconds / 60:.0f} minutes, so this turn was stopped. Ask again to go on."
        key = f"idle:{asked.session_id}:{asked.trace}"
        known: dict[str, Any] = {"trace": asked.trace, "unasked": asked.unasked}
        await rows_of(self._ctx).outbox.send_later(answer_to(asked.address, asked.owner, said(text), key=key, **known))
        self._wake(asked.address)

    async def _address(self, session_id: str, owner: Principal, waiting: Waiting) -> Envelope | None:
        """Where a turn is answered: where its message came from, or, of what was added to it, where that was.

        What a plugin ordered is answered in the chat that its session has, if it has one, and where the order says.
        """
        came = waiting.envelope
        if came is not None and came.account and not is_order_of(came, owner):
            return came
        asked = await self._ctx.sessions.asked_from(session_id, owner)
        chat = await rows_of(self._ctx).chats.at(owner, asked) if asked else None
        return envelope_of(chat) if chat else None  # else it was said in a terminal, and is answered there

    async def _is_quiet(self, owner: Principal, address: Envelope) -> bool:
        """Whether its person is left in peace in a chat now: then nobody is shown a turn that nobody asked for."""
        return await rows_of(self._ctx).quiet.until(owner, address.platform, address.chat) > 0

    async def _speaker(self, waiting: Waiting, owner: Principal) -> Speaker | None:
        """Who wrote a message, as they are known now; nothing is done for somebody who was let out since.

        Of what a plugin ordered for somebody no service knows more than the order says.
        """
        came = waiting.envelope
        if came is None or came.speaker is None:
            return None
        if is_order_of(came, owner):
            return came.speaker
        access = await self._access(evolve(came, addressed=True))
        return access.speaker if access.outcome == "in" else evolve(came.speaker, role="blocked")

    async def _origin(
        self, session_id: str, asked: Asked | None, speaker: Speaker | None, *, lasting: bool
    ) -> dict[str, Any]:
        """How a turn reaches its person, who that is, and what was chosen for the conversation.

        What is ``lasting`` is asked where the order of the turn says, and not here.
        """
        routes = await rows_of(self._ctx).routes.routes_of(session_id)
        chosen = routes[0].overrides if routes else {}
        model, effort = (str(chosen.get(name, "")) for name in ("model", "effort"))
        if asked is None:
            return {"model": model, "effort": effort, "speaker": speaker}
        here = platform_settings(self._ctx, asked.address.platform)
        usual = channel_of(here, asked.address.chat, asked.address.thread).model
        ask, ends = None if lasting else partial(self._asks.ask, asked), partial(self._ends, asked, speaker)
        return {"ask": ask, "ends": ends, "model": model or usual, "effort": effort, "speaker": speaker}

    async def _ends(self, of: Asked, speaker: Speaker | None, result: TurnResult) -> Prepared[object] | None:
        """What says something of a turn's end. One that was stopped was stopped by its person, who was told so."""
        text = {"done": result.answer, "failed": result.error}.get(result.state, "")
        silence = is_silence(text) if text.strip() else not result.parts
        if silence or (await self._ctx.host.rights(of.owner, speaker)).silent:
            return None
        failed = result.state == "failed"
        text = without_places(text) if failed and of.owner != self._ctx.owner else text
        message = said(text) if failed else await with_files(self._ctx, of.session_id, of.owner, text)
        message = evolve(message, parts=(*message.parts, *result.parts))
        known: dict[str, Any] = {"key": f"turn:{result.turn_id}", "kind": "answer", "trace": of.trace}
        known |= {"session_id": of.session_id, "turn_id": result.turn_id, "unasked": of.unasked}
        return await rows_of(self._ctx).outbox.sending([answer_to(of.address, of.owner, message, **known)])
