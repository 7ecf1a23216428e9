"""One kernel at work: sessions and turns over its parts.

Every way in (command line, platforms, embedding) calls ``turn``. There is no other.
"""

import asyncio
import contextlib
import gc
import logging
import os
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from functools import partial
from typing import Any, Literal, Self, TypeAlias
from weakref import WeakValueDictionary

from attrs import evolve

from hermes_core import notices, trace
from hermes_core.agent.budget import Budgets
from hermes_core.agent.failed import cause, failed
from hermes_core.agent.incoming import enveloped, instructed, sound
from hermes_core.agent.learning import Learning
from hermes_core.agent.live import Live, LiveSessions
from hermes_core.agent.ordered import ordered
from hermes_core.agent.parts import Parts
from hermes_core.agent.surface import CHILD, Surface
from hermes_core.config.settings import Settings
from hermes_core.errors import HermesError, UnknownName, UserError
from hermes_core.kinds import Workspace
from hermes_core.kinds.console import AskPerson
from hermes_core.store.codec import clean
from hermes_core.store.killpoints import die_at
from hermes_core.types import (
    Ended,
    Envelope,
    Event,
    Message,
    Noticed,
    Principal,
    Progress,
    Session,
    Started,
    Text,
    Usage,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.agent.turn import TurnRun
    from hermes_core.plugins.index import Installed

__all__ = ["Runtime"]

log = logging.getLogger(__name__)
_Emit: TypeAlias = Callable[[Event], None]
_BACKLOG = 64  # events nobody took yet; live output beyond is not shown, as its end is in the result
_FIXED = {  # settings that parts are made from, once
    "gateway", "logging", "plugins", "policy", "privacy", "quick_commands", "security", "store", "toolsets", "workers",
}  # fmt: skip


class Runtime(Parts):
    """A kernel that answers."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.sessions = LiveSessions(self, f"{socket.gethostname()}:{os.getpid()}:{os.urandom(4).hex()}")
        self.budgets = Budgets(self.settings)
        self._playing: dict[str, asyncio.Task[None]] = {}
        self._alone: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._learning = Learning()
        self.brokers: Callable[[Runtime, str, Installed], object]  # set by who made this

    def broker(self, name: str, installed: "Installed") -> object:
        """A broker of a plugin's context that needs the whole kernel."""
        return self.brokers(self, name, installed)

    def beside(self, settings: Settings) -> Self:
        """See Parts."""
        made = super().beside(settings)
        made.brokers = self.brokers
        return made

    async def delete_session(self, session_id: str, owner: Principal) -> None:
        """Delete a session and those of its child agents, and tell plugins. Raises UnknownName, Busy."""
        self.loader.load_hooks("on_session_deleted")
        for gone in await (await self.store()).sessions.delete(session_id, owner):
            await self.sessions.forget(gone.id)
            await self.dispatch.observe("on_session_deleted", session=gone)

    async def take_up(
        self, session_id: str = "", *, origin: str, owner: Principal | None = None, system: str = ""
    ) -> Session:
        """A session by its exact id, or a new one (with that id, when it is given and free).

        ``system`` is added to the prompt of a new one.
        """
        return (await self.sessions.take(session_id, origin, owner or self.owner, system)).session

    async def place(self, session: Session) -> Workspace:
        """Where the commands of a session run, as its turns will find it. Raises UserError when there is none."""
        live = await self.sessions.take(session.id, session.origin, session.owner)
        live.workspace = live.workspace or await self.workspace(live.session)
        return live.workspace

    def reread(self) -> Sequence[str]:
        """Take over what the settings say now; what of it needs a new start. Raises HermesError; then nothing is."""
        changed = self.settings.reread()
        self._toolbox = None
        if self.route and changed & {"model", "providers"}:
            self._routes["replaced", str(len(self._routes))] = self.route  # closed with the rest
            self.route, self._wanted = None, ("", "")
        return sorted(changed & _FIXED)

    async def warm(self) -> None:
        """Make now what every turn will need, for a process that serves many."""
        await self.store()
        self.load_hooks()
        self.toolbox()
        gc.collect()
        gc.freeze()  # what stays for good is not looked at again and again: that would hold up turns

    def turn(
        self,
        message: str | Message,
        *,
        session: str = "",
        origin: str = "embed",
        owner: Principal | None = None,
        envelope: Envelope | None = None,
        ask: AskPerson | None = None,
        stored: Callable[[], Awaitable[None]] | None = None,
        system: str = "",
        model: str = "",
        surface: Surface | None = None,
    ) -> AsyncGenerator[Event, None]:
        """Answer one message; yields events, an Ended last. Closing the iterator interrupts the turn.

        While another turn runs in the session, it waits. ``system`` is what a caller adds to a new session's prompt; a
        session whose prompt says something else hears it with the message, as prompts do not change. ``model`` (or
        ``provider:model``) answers this turn.
        """
        owner = owner or self.owner
        envelope = envelope or enveloped(message, session, origin, owner)
        surface = surface or Surface(ask=ask, model=model)
        return self._events(session, partial(self._play, envelope, session, origin, owner, surface, stored, system))

    def resume(
        self,
        session: str,
        *,
        owner: Principal | None = None,
        ask: AskPerson | None = None,
        surface: Surface | None = None,
    ) -> AsyncGenerator[Event, None]:
        """Finish the turn of a session that a dead process left open; yields as ``turn`` does, or nothing."""
        return self._events(session, partial(self._finish, session, owner or self.owner, surface or Surface(ask=ask)))

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
            await self.sessions.forget(session)
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
        """Whether a turn runs in a session."""
        return session in self._playing

    async def steer(self, session: str, message: str | Message, **given: Any) -> None:
        """Say something to the running turn: it reaches the model with the next tool result, else as the next message.

        Stored when this returns. ``given`` are ``owner``, ``origin`` and ``envelope``, as for ``turn``.
        """
        await self._wait("steer", session, message, **given)

    async def queue(self, session: str, message: str | Message, **given: Any) -> int:
        """Say something that is played after the running turn, by ``follow``; its row. As ``steer`` else.

        ``given`` may also be ``system`` and ``folder``, for a new session.
        """
        return await self._wait("queue", session, message, **given)

    async def _wait(
        self,
        mode: Literal["steer", "queue"],
        session: str,
        message: str | Message,
        *,
        owner: Principal | None = None,
        origin: str = "embed",
        envelope: Envelope | None = None,
        system: str = "",
        folder: str = "",
    ) -> int:
        owner = owner or self.owner
        original = envelope or enveloped(message, session, origin, owner)
        self.load_hooks()
        said = await self._admitted(original, session, owner)
        bounds = original.order.bounds if original.order else None
        live = await self.sessions.take(session, origin, owner, clean(system), folder=folder, bounds=bounds)
        message = said.message if system in live.prompt else instructed(said.message, clean(system))
        store = await self.store()
        await self.sessions.keep(live, store)
        with trace.using() as known:
            row = await store.inbox.wait(live.session.id, message, mode=mode, envelope=original, trace=known)
        die_at("received")
        return row

    def follow(
        self,
        session: str,
        *,
        owner: Principal | None = None,
        ask: AskPerson | None = None,
        surface: Surface | None = None,
        row: int = 0,
    ) -> AsyncGenerator[Event, None]:
        """Play the message that waits longest in a session, or that of a ``row``.

        Yields as ``turn`` does, or nothing when it does not wait.
        """
        surface = surface or Surface(ask=ask)
        return self._events(session, partial(self._follow, session, owner or self.owner, surface, row))

    async def _play(
        self,
        original: Envelope,
        session_id: str,
        origin: str,
        owner: Principal,
        surface: Surface,
        stored: Callable[[], Awaitable[None]] | None,
        system: str,
        emit: _Emit,
    ) -> "TurnRun":
        self.load_hooks()
        envelope = await self._admitted(original, session_id, owner)
        await self.routed(surface.model)  # one that is not there is an error, not a reason to ask another
        live = await self.sessions.take(session_id, origin, owner, system)
        message = envelope.message if system in live.prompt else instructed(envelope.message, clean(system))
        run = self._turn_run(live, surface, emit)
        await run.play(message, original=original, stored=stored)
        return run

    async def _admitted(self, original: Envelope, session_id: str, owner: Principal) -> Envelope:
        """The message as plugins let it in. Raises UserError."""
        original = evolve(original, message=sound(original.message))
        known: dict[str, Any] = {"session_id": session_id, "owner": owner, "cwd": "", "context": 0}
        if self.dispatch.implementations("transform_incoming"):
            known["cwd"] = await self._folder(session_id, owner) if self.is_here(owner) else ""
            known["context"] = self.router.window(self.route) if self.route else 0
        envelope = await self.dispatch.transform("transform_incoming", "envelope", original, **known)
        if any(isinstance(part, Text) and part.quotes for part in envelope.message.parts):  # it may be a lot
            envelope = evolve(envelope, message=await asyncio.to_thread(self._quoting, envelope.message))
        verdict = await self.dispatch.decide("admit", envelope=envelope)
        if verdict.outcome == "deny":
            raise UserError(f"This message was not let in: {verdict.reason or verdict.by}")
        return envelope

    async def _folder(self, session_id: str, owner: Principal) -> str:
        """Where a session works, also one that is not taken up here yet."""
        if session_id and not self.sessions.holds(session_id):
            with contextlib.suppress(UnknownName):
                return (await (await self.store()).sessions.get(session_id, owner)).cwd
        return self.sessions.folder(session_id, owner)

    def _quoting(self, message: Message) -> Message:
        """The message with what it quotes as a tool's result would show it: as can be stored, and without secrets."""
        masked = self.settings.masks.for_model
        parts = tuple(
            evolve(part, text=masked(clean(part.text))) if isinstance(part, Text) and part.quotes else part
            for part in message.parts
        )
        return evolve(message, parts=parts)

    async def _run(self, session_id: str, origin: str, owner: Principal, surface: Surface, emit: _Emit) -> "TurnRun":
        live = await self.sessions.take(session_id, origin, owner)
        return self._turn_run(live, surface, emit)

    def _turn_run(self, live: Live, surface: Surface, emit: _Emit) -> "TurnRun":
        from hermes_core.agent.turn import TurnRun  # what is only looked at needs no turn

        return TurnRun(self.sessions, live, budgets=self.budgets, surface=surface, emit=emit)

    async def _follow(
        self, session_id: str, owner: Principal, surface: Surface, row: int, emit: _Emit
    ) -> "TurnRun | None":
        store = await self.store()
        waiting = [one for one in await store.inbox.waiting(session_id) if row in (0, one.id)]
        if not waiting:  # nor does anything in a session that has no row yet
            return None
        await store.sessions.get(session_id, owner)  # nobody plays what waits for another
        with trace.using(waiting[0].trace):
            run = await self._run(session_id, "", owner, ordered(self, surface, owner, waiting[0].envelope), emit)
            await run.play(waiting[0].message, waited=waiting[0].id)
        return run

    async def _finish(self, session_id: str, owner: Principal, surface: Surface, emit: _Emit) -> "TurnRun | None":
        store = await self.store()
        session = await store.sessions.get(session_id, owner)  # one that is not there is not made
        if session.origin == CHILD and surface.above is None:
            return None  # whoever it works for goes on with it, and knows what it may do
        last = await store.journal.last_turn(session_id)
        if last is None or last.state != "open":
            return None
        begun = await store.inbox.begun_by(session_id)
        surface = ordered(self, surface, owner, begun.envelope if begun else None)
        run = await self._run(session_id, "", owner, surface, emit)
        return run if await run.resume() else None

    async def _guarded(
        self, session_id: str, play: Callable[[_Emit], "Awaitable[TurnRun | None]"], emit: _Emit
    ) -> None:
        alone = self._alone.setdefault(session_id, asyncio.Lock()) if session_id else asyncio.Lock()
        try:
            with notices.heard_by(lambda text: emit(Noticed(text=text))):
                async with alone:  # of one session, one turn at a time
                    self._playing[session_id] = asyncio.current_task()  # type: ignore[assignment]
                    if run := await play(emit):
                        self._learning.begin(self.memory(run.session), run.session, run.messages)
        except asyncio.CancelledError:
            emit(Ended(session_id=session_id, turn_id="", answer="", reason="interrupted", usage=Usage()))
            raise
        except Exception as error:
            if not isinstance(error, HermesError):
                log.exception("a turn could not begin")
            emit(failed(cause(error), self.settings.masks.text))
            emit(Ended(session_id=session_id, turn_id="", answer="", reason="failed", usage=Usage()))

    async def close(self) -> None:
        """End sessions, let go of workspaces, providers and the store."""
        await self._learning.end()
        await self.sessions.close()
        await super().close()
