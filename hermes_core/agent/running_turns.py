"""The turns of one kernel: begun, gone on with, steered, stopped.

Every way in (command line, platforms, embedding) calls ``run``. There is no other.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from functools import partial
from typing import Any, Literal, TypeAlias
from weakref import WeakSet, WeakValueDictionary

from attrs import evolve

from hermes_core import notices, trace
from hermes_core.agent.bounds import CHILD
from hermes_core.agent.failed import cause, failed
from hermes_core.agent.incoming import enveloped, instructed, sound
from hermes_core.agent.ordered import ordered
from hermes_core.agent.runtime import Runtime
from hermes_core.agent.session_state import OpenSessions, SessionState
from hermes_core.agent.turn_origin import TurnOrigin
from hermes_core.codec import clean
from hermes_core.errors import HermesError, UnknownName, UserError
from hermes_core.kinds.console import AskPerson
from hermes_core.store.killpoints import die_at
from hermes_core.types import Ended, Envelope, Event, Message, Noticed, Principal, Progress, Started, Text, Usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.agent.turn import TurnRun

__all__ = ["RunningTurns"]

log = logging.getLogger(__name__)
_Emit: TypeAlias = Callable[[Event], None]
_BACKLOG = 64  # events nobody took yet; live output beyond is not shown, as its end is in the result


class RunningTurns:
    """The turns that this process runs."""

    def __init__(self, runtime: Runtime, sessions: OpenSessions) -> None:
        self._runtime, self._sessions = runtime, sessions
        self._playing: dict[str, asyncio.Task[None]] = {}
        self._over: WeakSet[asyncio.Task[None]] = WeakSet()  # being closed: there is nothing to wait for
        self._alone: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def run(
        self,
        message: str | Message,
        *,
        session: str = "",
        origin: str = "embed",
        owner: Principal | None = None,
        envelope: Envelope | None = None,
        stored: Callable[[], Awaitable[None]] | None = None,
        system: str = "",
        turn_origin: TurnOrigin | None = None,
        **how: Any,
    ) -> AsyncGenerator[Event, None]:
        """Answer one message; yields events, an Ended last. Closing the iterator interrupts the turn.

        While another turn runs in the session, it waits. ``system`` is what a caller adds to a new session's prompt; a
        session whose prompt says something else hears it with the message. ``how`` makes a ``turn_origin``.
        """
        owner = owner or self._runtime.owner
        envelope = envelope or enveloped(message, session, origin, owner)
        turn_origin = turn_origin or TurnOrigin(**how)
        return self._events(session, partial(self._play, envelope, session, origin, owner, turn_origin, stored, system))

    def resume(
        self,
        session: str,
        *,
        owner: Principal | None = None,
        turn_origin: TurnOrigin | None = None,
        **how: Any,
    ) -> AsyncGenerator[Event, None]:
        """Finish the turn of a session that a dead process left open; yields as ``run`` does, or nothing."""
        return self._events(
            session, partial(self._finish, session, owner or self._runtime.owner, turn_origin or TurnOrigin(**how))
        )

    async def _events(
        self, session: str, play: Callable[[_Emit], "Awaitable[TurnRun | None]"]
    ) -> AsyncGenerator[Event, None]:
        events: asyncio.Queue[Event | None] = asyncio.Queue()

        def emit(event: Event) -> None:
            if events.qsize() < _BACKLOG or not isinstance(event, Progress):
                events.put_nowait(event)

        with trace.using():  # the task keeps it
            work = asyncio.create_task(self._guarded(session, play, emit))
        work.add_done_callback(lambda _: events.put_nowait(None))
        names = {session}
        try:
            while True:
                event = await events.get()
                if event is None:  # there was nothing to do
                    return
                if isinstance(event, Started):
                    names.add(event.session_id)
                    self._playing[event.session_id] = work
                yield event
                if isinstance(event, Ended):
                    return
        finally:
            for name in names:
                if self._playing.get(name) is work:
                    del self._playing[name]
            work.cancel()
            await asyncio.wait([work])

    def interrupt(self, session: str) -> bool:
        """Stop the turn that runs in a session; its last event still comes. False when none runs."""
        work = self._playing.get(session)
        return work is not None and work.cancel()

    async def end(self, session: str) -> None:
        """Stop the turn that runs in a session, wait for its end, and let go of what the session holds here."""
        if work := self._playing.get(session):
            work.cancel()
            await asyncio.wait([work])
        try:
            await self._sessions.forget(session)
        except Exception:  # its place for commands is broken: that is nothing to those who wait for its end
            log.exception("what a session held could not be let go")

    @property
    def playing(self) -> int:
        """How many turns run."""
        return len(set(self._playing.values()))

    async def rest(self) -> None:
        """Wait until no turn runs."""
        while self._playing:
            await asyncio.wait({*self._playing.values()})
            await asyncio.sleep(0)

    def busy(self, session: str) -> bool:
        """Tell whether a turn runs in a session; not one whose end is being stored: its answer may be read before."""
        work = self._playing.get(session)
        return work is not None and work not in self._over

    def close_soon(self, session: str) -> None:
        """Take note that the turn of a session is over but for its rows and those who look on."""
        if work := self._playing.get(session):
            self._over.add(work)

    async def queue(
        self,
        session: str,
        message: str | Message,
        *,
        mode: Literal["queue", "steer"] = "queue",
        owner: Principal | None = None,
        origin: str = "embed",
        envelope: Envelope | None = None,
        system: str = "",
        folder: str = "",
        parent: str = "",
    ) -> int:
        """Say something that is played after the running turn, by ``follow``; its row. Stored when this returns.

        With the mode ``steer`` it is said to the running turn: it reaches the model with the next tool result, else as
        the next message. ``system``, ``folder`` and ``parent`` are for a new session.
        """
        owner = owner or self._runtime.owner
        original = envelope or enveloped(message, session, origin, owner)
        self._runtime.load_hooks()
        said = await self._admitted(original, session, owner)
        bounds = original.order.bounds if original.order else None
        state = await self._sessions.take(
            session, origin, owner, clean(system), folder=folder, bounds=bounds, parent=parent
        )
        message = said.message if system in state.prompt else instructed(said.message, clean(system))
        store = await self._runtime.store()
        await self._sessions.keep(state, store)
        with trace.using() as known:
            row = await store.inbox.wait(state.session.id, message, mode=mode, envelope=original, trace=known)
        die_at("received")
        return row

    def follow(
        self,
        session: str,
        *,
        owner: Principal | None = None,
        ask: AskPerson | None = None,
        turn_origin: TurnOrigin | None = None,
        row: int = 0,
    ) -> AsyncGenerator[Event, None]:
        """Play the message that waits longest in a session, or that of a ``row``.

        Yields as ``run`` does, or nothing when it does not wait; nor while a turn before it is open: see ``resume``.
        """
        turn_origin = turn_origin or TurnOrigin(ask=ask)
        return self._events(session, partial(self._follow, session, owner or self._runtime.owner, turn_origin, row))

    async def _play(
        self,
        original: Envelope,
        session_id: str,
        origin: str,
        owner: Principal,
        turn_origin: TurnOrigin,
        stored: Callable[[], Awaitable[None]] | None,
        system: str,
        emit: _Emit,
    ) -> "TurnRun":
        self._runtime.load_hooks()
        envelope = await self._admitted(original, session_id, owner)
        await self._runtime.routes.get(
            turn_origin.model
        )  # one that is not there is an error, not a reason to ask another
        state = await self._sessions.take(session_id, origin, owner, system)
        message = envelope.message if system in state.prompt else instructed(envelope.message, clean(system))
        run = self._turn_run(state, ordered(self._runtime, turn_origin, owner, evolve(original, order=None)), emit)
        await run.play(message, original=original, stored=stored)
        return run

    async def _admitted(self, original: Envelope, session_id: str, owner: Principal) -> Envelope:
        """Return the message as plugins let it in. Raises UserError."""
        original = evolve(original, message=sound(original.message))
        if refused := (await self._runtime.guests.now(owner, original.speaker)).refused:
            raise UserError(refused)
        known: dict[str, Any] = {"session_id": session_id, "owner": owner, "cwd": "", "context": 0}
        if self._runtime.dispatch.implementations("transform_incoming"):
            known["cwd"] = await self._folder(session_id, owner) if self._runtime.workspaces.is_here(owner) else ""
            if route := self._runtime.routes.current:
                known["context"] = self._runtime.models.window(route)
        envelope = await self._runtime.dispatch.transform("transform_incoming", "envelope", original, **known)
        if any(isinstance(part, Text) and part.quotes for part in envelope.message.parts):  # it may be a lot
            envelope = evolve(envelope, message=await asyncio.to_thread(self._quoting, envelope.message))
        verdict = await self._runtime.dispatch.decide("admit", envelope=envelope)
        if verdict.outcome == "deny":
            raise UserError(f"This message was not let in: {verdict.reason or verdict.by}")
        return envelope

    async def _folder(self, session_id: str, owner: Principal) -> str:
        """Say where a session works, also one that is not taken up here yet."""
        if session_id and not self._sessions.holds(session_id):
            with contextlib.suppress(UnknownName):
                kept = await (await self._runtime.store()).sessions.get(session_id, owner)
                return self._sessions.narrow(kept.cwd, owner)
        return self._sessions.folder(session_id, owner)

    def _quoting(self, message: Message) -> Message:
        """Return the message with what it quotes as a tool's result shows it: as can be stored, and without secrets."""
        masked = self._runtime.settings.masks.for_model
        parts = tuple(
            evolve(part, text=masked(clean(part.text))) if isinstance(part, Text) and part.quotes else part
            for part in message.parts
        )
        return evolve(message, parts=parts)

    async def _run(
        self, session_id: str, origin: str, owner: Principal, turn_origin: TurnOrigin, emit: _Emit
    ) -> "TurnRun":
        state = await self._sessions.take(session_id, origin, owner)
        return self._turn_run(state, turn_origin, emit)

    def _turn_run(self, state: SessionState, turn_origin: TurnOrigin, emit: _Emit) -> "TurnRun":
        from hermes_core.agent.turn import TurnRun  # what is only looked at needs no turn

        return TurnRun(self._sessions, state, turn_origin=turn_origin, emit=emit, over=self.close_soon)

    async def _follow(
        self, session_id: str, owner: Principal, turn_origin: TurnOrigin, row: int, emit: _Emit
    ) -> "TurnRun | None":
        store = await self._runtime.store()
        waiting = [one for one in await store.inbox.waiting(session_id) if row in (0, one.id)]
        if not waiting or (
            not row and await store.inbox.begun_by(session_id)
        ):  # nor does anything in a session that has no row yet
            return None
        await store.sessions.get(session_id, owner)  # nobody plays what waits for another
        with trace.using(waiting[0].trace):
            run = await self._run(
                session_id, "", owner, ordered(self._runtime, turn_origin, owner, waiting[0].envelope), emit
            )
            await run.play(waiting[0].message, waited=waiting[0].id, patient=not row)
        return run

    async def _finish(
        self, session_id: str, owner: Principal, turn_origin: TurnOrigin, emit: _Emit
    ) -> "TurnRun | None":
        store = await self._runtime.store()
        session = await store.sessions.get(session_id, owner)  # one that is not there is not made
        if session.origin == CHILD and turn_origin.above is None:
            return None  # whoever it works for goes on with it, and knows what it may do
        last = await store.journal.last_turn(session_id)
        if last is None or last.state != "open":
            return None
        begun = await store.inbox.begun_by(session_id)
        turn_origin = ordered(self._runtime, turn_origin, owner, begun.envelope if begun else None)
        run = await self._run(session_id, "", owner, turn_origin, emit)
        return run if await run.resume() else None

    async def _guarded(
        self, session_id: str, play: Callable[[_Emit], "Awaitable[TurnRun | None]"], emit: _Emit
    ) -> None:
        alone = self._alone.setdefault(session_id, asyncio.Lock()) if session_id else asyncio.Lock()
        try:
            with notices.heard_by(lambda text: emit(Noticed(text=text))):
                async with alone:  # of one session, one turn at a time
                    self._playing[session_id] = asyncio.current_task()  # type: ignore[assignment]
                    if (run := await play(emit)) and not run.refused:
                        self._runtime.memory.learn(run.session, run.messages)
        except asyncio.CancelledError:
            emit(Ended(session_id=session_id, turn_id="", answer="", reason="interrupted", usage=Usage()))
            raise
        except Exception as error:
            if not isinstance(error, HermesError):
                log.exception("a turn could not begin")
            emit(failed(cause(error), self._runtime.settings.masks.text))
            emit(Ended(session_id=session_id, turn_id="", answer="", reason="failed", usage=Usage()))

    async def close(self) -> None:
        """End what memories still learn."""
        await self._runtime.memory.end()
