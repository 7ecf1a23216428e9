"""One kernel at work: sessions and turns over its parts.

Every way in (command line, platforms, embedding) calls ``turn``. There is no other.
"""

import asyncio
import logging
import os
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

from attrs import evolve

from hermes_core.agent.live import LiveSessions
from hermes_core.agent.parts import Parts
from hermes_core.agent.policy import AskPerson
from hermes_core.agent.turn import TurnRun, cause, failed
from hermes_core.errors import HermesError, UserError
from hermes_core.kinds import Memory
from hermes_core.store.codec import clean
from hermes_core.types import (
    Ended,
    Envelope,
    Event,
    Message,
    Principal,
    Progress,
    Session,
    Text,
    Usage,
)

__all__ = ["Runtime"]

log = logging.getLogger(__name__)
_Emit: TypeAlias = Callable[[Event], None]
_BACKLOG = 64  # events nobody took yet; live output beyond is not shown, as its end is in the result
_LONGEST = 10_000_000  # characters of one message; no model reads more
_LEARN = 60.0  # seconds a memory may look at one turn


class Runtime(Parts):
    """A kernel that answers."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.sessions = LiveSessions(self, f"{socket.gethostname()}:{os.getpid()}:{os.urandom(4).hex()}")
        self._playing: dict[str, asyncio.Task[None]] = {}
        self._learning: set[asyncio.Task[None]] = set()

    async def take_up(self, session_id: str = "", *, origin: str, owner: Principal | None = None) -> Session:
        """A session by its exact id, or a new one (with that id, when it is given and free)."""
        return (await self.sessions.take(session_id, origin, owner or self.owner)).session

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
    ) -> AsyncGenerator[Event, None]:
        """Answer one message; yields events, an Ended last. Closing the iterator interrupts the turn."""
        owner = owner or self.owner
        if envelope is None:
            said = message if isinstance(message, Message) else Message(role="user", parts=(Text(text=message),))
            event_id = os.urandom(16).hex()
            envelope = Envelope(
                platform=origin, account="", event_id=event_id, chat=session, sender=owner.person, message=said
            )
        return self._events(session, partial(self._play, envelope, session, origin, owner, ask, stored))

    def resume(
        self, session: str, *, owner: Principal | None = None, ask: AskPerson | None = None
    ) -> AsyncGenerator[Event, None]:
        """Finish the turn of a session that a dead process left open; yields as ``turn`` does, or nothing."""
        return self._events(session, partial(self._finish, session, owner or self.owner, ask))

    async def _events(
        self, session: str, play: Callable[[_Emit], Awaitable[TurnRun | None]]
    ) -> AsyncGenerator[Event, None]:
        events: asyncio.Queue[Event | None] = asyncio.Queue()

        def emit(event: Event) -> None:
            if events.qsize() < _BACKLOG or not isinstance(event, Progress):
                events.put_nowait(event)

        work = asyncio.create_task(self._guarded(session, play, emit))
        work.add_done_callback(lambda _: events.put_nowait(None))
        self._playing[session] = work
        try:
            while True:
                event = await events.get()
                if event is None:  # there was nothing to do
                    return
                yield event
                if isinstance(event, Ended):
                    return
        finally:
            if self._playing.get(session) is work:
                del self._playing[session]
            work.cancel()
            await asyncio.wait([work])

    def interrupt(self, session: str) -> bool:
        """Stop the turn that runs in a session; its last event still comes. False when none runs."""
        work = self._playing.get(session)
        return work is not None and work.cancel()

    async def _play(
        self,
        original: Envelope,
        session_id: str,
        origin: str,
        owner: Principal,
        ask: AskPerson | None,
        stored: Callable[[], Awaitable[None]] | None,
        emit: _Emit,
    ) -> TurnRun:
        original = evolve(original, message=_sound(original.message))
        envelope = await self.dispatch.transform("transform_incoming", "envelope", original, session_id=session_id)
        verdict = await self.dispatch.decide("admit", envelope=envelope)
        if verdict.outcome == "deny":
            raise UserError(f"This message was not let in: {verdict.reason or verdict.by}")
        run = TurnRun(self.sessions, await self.sessions.take(session_id, origin, owner), ask=ask, emit=emit)
        await run.play(envelope, original=original, stored=stored)
        return run

    async def _finish(self, session_id: str, owner: Principal, ask: AskPerson | None, emit: _Emit) -> TurnRun | None:
        await (await self.store()).session(session_id, owner)  # one that is not there is not made
        run = TurnRun(self.sessions, await self.sessions.take(session_id, "", owner), ask=ask, emit=emit)
        return run if await run.resume() else None

    async def _guarded(self, session_id: str, play: Callable[[_Emit], Awaitable[TurnRun | None]], emit: _Emit) -> None:
        try:
            self.load_hooks()
            if run := await play(emit):
                self._let_learn(run.session, run.messages)
        except asyncio.CancelledError:
            emit(Ended(session_id=session_id, turn_id="", answer="", reason="interrupted", usage=Usage()))
            raise
        except Exception as error:
            if not isinstance(error, HermesError):
                log.exception("a turn could not begin")
            emit(failed(cause(error)))
            emit(Ended(session_id=session_id, turn_id="", answer="", reason="failed", usage=Usage()))

    def _let_learn(self, session: Session, messages: Sequence[Message]) -> None:
        """Let the memory look at a finished turn, beside whatever comes next."""
        memory = self.memory()
        if memory is None or type(memory).learn is Memory.learn:
            return

        async def learn() -> None:
            try:
                async with asyncio.timeout(_LEARN):
                    await memory.learn(session, messages)
            except Exception:  # what was not learned is not worth the person's time
                log.exception("the memory could not learn")

        task = asyncio.create_task(learn())
        self._learning.add(task)
        task.add_done_callback(self._learning.discard)

    async def close(self) -> None:
        """End sessions, let go of workspaces, providers and the store."""
        if self._learning:
            await asyncio.wait(self._learning)
        await self.sessions.close()
        await super().close()


def _sound(message: Message) -> Message:
    """What a person said, as it can be stored. Raises UserError for what no model reads."""
    if (size := sum(len(part.text) for part in message.parts if isinstance(part, Text))) > _LONGEST:
        raise UserError(
            f"The message has {size:,} characters; at most {_LONGEST:,} are taken.",
            hint="Save it in a file, and say where it is.",
        )
    parts = tuple(evolve(part, text=clean(part.text)) if isinstance(part, Text) else part for part in message.parts)
    return message if parts == tuple(message.parts) else evolve(message, parts=parts)
