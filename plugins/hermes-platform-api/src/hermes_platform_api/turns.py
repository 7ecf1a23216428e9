"""Turns for clients: so many at once, each request once, and none that nobody waits for."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import TypeAlias

from attrs import evolve

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError
from hermes_core.types import (
    Ended,
    Event,
    Failed,
    Message,
    PastTurn,
    Principal,
    Progress,
    Question,
    Said,
    Started,
    TurnOrder,
    Usage,
    Verdict,
)
from hermes_platform_api.errors import ApiError, of_error, of_refused
from hermes_platform_api.heads import Head, Heads, Keys
from hermes_platform_api.turn_request import TurnRequest

__all__ = ["Kept", "Turns", "owner_of"]

Events: TypeAlias = AsyncGenerator[Event, None]
_LOOK = 0.5  # seconds between two looks at a turn that another process plays
_MOST = 2000  # events of live output that are kept of one turn
_AGAIN = "1"  # seconds after which a client that was turned away may come again


class Kept:
    """A turn that goes on without its client, and whose events can be read by any number of them, from the start."""

    def __init__(self, person: str) -> None:
        self.person = person
        self.events: list[Event] = []
        self.session = self._turn = ""
        self.asking: dict[str, tuple[Question, asyncio.Future[Verdict]]] = {}
        self.stored: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.task: asyncio.Task[None] | None = None
        self.failure: ApiError | None = None
        self._news = asyncio.Event()

    @property
    def over(self) -> bool:
        """Whether there is nothing more to come."""
        return self.task is not None and self.task.done()

    def begin(self, events: Events, done: Callable[[], None]) -> None:
        """Play it."""
        self.task = asyncio.create_task(self._play(events))

        def end(_: object) -> None:
            if not self.stored.done():
                self.stored.set_result(None)
            self._tell()
            done()

        self.task.add_done_callback(end)

    async def _play(self, events: Events) -> None:
        try:
            async with contextlib.aclosing(events) as turn:
                async for event in turn:
                    self.add(event)
        except asyncio.CancelledError:
            ids = {"session_id": self.session, "turn_id": self._turn}
            self.add(Ended(**ids, answer="", reason="interrupted", usage=Usage()))
            raise
        except ApiError as error:
            self.failure = error
        except HermesError as error:
            self.failure = of_error(error)

    def add(self, event: Event) -> None:
        """Keep an event and wake who reads."""
        if isinstance(event, Started):
            self.session, self._turn = event.session_id, event.turn_id
        if not isinstance(event, Progress) or len(self.events) < _MOST:
            self.events.append(event)
            self._tell()

    def _tell(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()

    async def ask(self, question: Question) -> Verdict | None:
        """Put a question to whoever reads the events; answered by ``answer``, or elsewhere."""
        answer: asyncio.Future[Verdict] = asyncio.get_running_loop().create_future()
        self.asking[question.id] = (question, answer)
        self._tell()
        try:
            return await answer
        finally:
            del self.asking[question.id]
            self._tell()

    async def read(self) -> AsyncGenerator[Event | Question, None]:
        """Its events from the start until its end, and the questions that wait meanwhile. Raises ApiError."""
        at, told = 0, set[str]()
        while True:
            news = self._news
            while at < len(self.events):
                at += 1
                yield self.events[at - 1]
            for question, _ in list(self.asking.values()):
                if question.id not in told:
                    told.add(question.id)
                    yield question
            if self.over and at == len(self.events):
                break
            if news is self._news:
                await news.wait()
        if self.failure:
            raise self.failure

    async def stop(self) -> None:
        """Interrupt it; its Ended still comes."""
        if self.task and not self.task.done():
            self.task.cancel()
            await asyncio.wait({self.task})


class Turns:
    """Plays the turns that clients ask for."""

    def __init__(self, ctx: PluginContext, most: int) -> None:
        self._ctx, self._most = ctx, most
        self._heads, self._keys = Heads(ctx.documents, ctx.sessions), Keys(ctx.documents)
        self._kept: dict[str, Kept] = {}
        self._sessions: dict[str, int] = {}
        self.running, self._last, self._rested = 0, False, asyncio.Event()

    def refuse(self) -> None:
        """Take no more: this server ends."""
        self._last = True

    async def rest(self, seconds: float) -> None:
        """Take no more, and let what runs end, for so long at most."""
        self.refuse()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self.running:
                    self._rested.clear()
                    await self._rested.wait()

    def busy(self, session: str) -> bool:
        """Whether a turn that began here runs in a session."""
        return session in self._sessions

    def kept(self, event: str, person: str) -> Kept | None:
        """A turn that goes on without its client."""
        found = self._kept.get(event)
        return found if found and found.person == person else None

    async def play(self, wanted: TurnRequest) -> Events:
        """Its events, an Ended last; closing them interrupts it, unless it can be asked for again. Raises ApiError."""
        if wanted.repeats:
            async for event in (await self.keep(wanted)).read():
                if not isinstance(event, Question):
                    yield event
            return
        self._take()
        try:
            async with contextlib.aclosing(self._watched(self._turn(wanted))) as turn:
                async for event in turn:
                    yield event
        finally:
            self._give()

    async def keep(self, wanted: TurnRequest, seconds: float = 0.0) -> Kept:
        """Play it whether or not somebody listens, or find it where it was played. Raises ApiError.

        Its events can be read for so many seconds after its end.
        """
        if found := self.kept(wanted.event, wanted.person):
            return found
        await self._bind(wanted)
        if found := self.kept(wanted.event, wanted.person):  # it came twice, and the other was faster
            return found
        self._take()
        kept = Kept(wanted.person)
        self._begin(wanted.event, kept, self._once(wanted, kept), seconds)
        return kept

    async def take_up(self, event: str, person: str, seconds: float) -> Kept | None:
        """Go on with a turn that a death cut off, or kept from its turn; None where there is none, or it is played.

        Its events from here on can be read as those of ``keep``. Waits while as many turns run as may.
        """
        wanted = TurnRequest(person=person, event=event, message=Message(role="user", parts=()))
        await self._room()
        past = await self._past(wanted)
        if self._last or past is None or past.state not in ("cut", "waiting") or self.kept(event, person):
            return None
        if past.state == "waiting" and await self._ctx.turns.busy(past.session_id, owner=owner_of(self._ctx, person)):
            return None
        self.running += 1
        kept = Kept(person)
        kept.session = past.session_id
        self._begin(event, kept, self._again(past, wanted, kept.ask), seconds)
        return kept

    async def finish(self, session: str, person: str) -> None:
        """Finish the turn that a death cut off in a session, and play what waits there; nobody is asked."""
        await self._room()
        if self._last:
            return
        self.running += 1
        events = self._ctx.turns.resume(session, owner=owner_of(self._ctx, person))
        self._begin(f"session {session}", Kept(person), events, 0.0)

    def _begin(self, name: str, kept: Kept, events: Events, seconds: float) -> None:
        """Play something under a name, of which nothing is known any more so many seconds after its end."""
        loop, self._kept[name] = asyncio.get_running_loop(), kept

        def done() -> None:
            self._give()
            loop.call_later(seconds, self._kept.pop, name, None)

        kept.begin(self._watched(events), done)

    async def _room(self) -> None:
        while self.running >= self._most and not self._last:
            self._rested.clear()
            await self._rested.wait()

    async def close(self) -> None:
        """Interrupt what runs."""
        for kept in list(self._kept.values()):
            await kept.stop()
        self._kept.clear()

    async def _bind(self, wanted: TurnRequest) -> None:
        """Raises ApiError where the key of a request came with another one before."""
        if wanted.key and not await self._keys.bind(owner_of(self._ctx, wanted.person), wanted.key, wanted.event):
            text = "This Idempotency-Key came with another request before. Use a new key for a new request."
            raise ApiError(422, "idempotency_key_reused", text, headers={"x-should-retry": "false"})

    def _take(self) -> None:
        if self._last:
            text = "This server is going down. Come again soon."
            raise ApiError(503, "going_down", text, headers={"retry-after": "5"})
        if self.running >= self._most:
            text = f"{self._most} turns run already. Come again soon."
            raise ApiError(429, "too_many_turns", text, headers={"retry-after": _AGAIN})
        self.running += 1

    def _give(self) -> None:
        self.running -= 1
        self._rested.set()

    async def _watched(self, events: Events) -> Events:
        session = ""
        try:
            async with contextlib.aclosing(events) as turn:
                async for event in turn:
                    if isinstance(event, Started):
                        session = event.session_id
                        self._sessions[session] = self._sessions.get(session, 0) + 1
                    yield event
        finally:
            if session and self._sessions[session] > 1:
                self._sessions[session] -= 1
            elif session:
                del self._sessions[session]

    async def _turn(self, wanted: TurnRequest, kept: Kept | None = None) -> Events:
        """Order it and play it. A client that names no session goes on in the one that ended with its history."""
        owner, begun, over = owner_of(self._ctx, wanted.person), False, False
        head = None if wanted.session else Head(wanted.system, wanted.history)
        try:
            async with contextlib.aclosing(self._ordered(owner, wanted, head, kept)) as turn:
                async for event in turn:
                    begun, over = begun or isinstance(event, Started), isinstance(event, Ended)
                    yield event
            if not over:  # another process was faster
                async with contextlib.aclosing(self._again(await self._past(wanted), wanted, None)) as turn:
                    async for event in turn:
                        begun = True
                        yield event
        except HermesError as error:
            raise of_refused(error, self._ctx.masks.text) from error
        finally:
            if not begun and kept is None:  # its client left while it waited, and nobody asks for it again
                with contextlib.suppress(HermesError):
                    await self._ctx.turns.forget(wanted.event, owner=owner)

    async def _ordered(self, owner: Principal, wanted: TurnRequest, head: Head | None, kept: Kept | None) -> Events:
        session, shown = wanted.session, ""
        if head and wanted.history:
            session = await self._heads.take(owner, str(head)) or await self._begun(owner, wanted)

        async def stored(session: str) -> None:
            if kept and not kept.stored.done():
                kept.session = session
                kept.stored.set_result(None)

        order = TurnOrder(session=session, system=wanted.system, event=wanted.event, model=wanted.model)
        ask = kept.ask if kept else None
        turn = self._ctx.turns.run(wanted.message, owner=owner, order=order, ask=ask, stored=stored)
        async with contextlib.aclosing(turn) as events:
            async for event in events:
                if isinstance(event, Said):
                    shown += event.text
                elif head and isinstance(event, Ended) and event.reason == "done":
                    head.add(wanted.message)
                    ends = [head.ended(answer) for answer in (event.answer, shown)]
                    await self._heads.put(owner, event.session_id, ends)
                yield event

    async def _begun(self, owner: Principal, wanted: TurnRequest) -> str:
        return (await self._ctx.sessions.create(owner, system=wanted.system, history=wanted.history)).id

    async def _once(self, wanted: TurnRequest, kept: Kept) -> Events:
        """It, or what came of it when it was played before, by whichever process."""
        past = await self._past(wanted) if wanted.repeats else None
        events = self._again(past, wanted, kept.ask) if past else self._turn(wanted, kept)
        async with contextlib.aclosing(events) as turn:
            async for event in turn:
                yield event

    async def _past(self, wanted: TurnRequest) -> PastTurn | None:
        return await self._ctx.turns.past(wanted.event, owner=owner_of(self._ctx, wanted.person))

    async def _again(
        self, past: PastTurn | None, wanted: TurnRequest, ask: Callable[[Question], Awaitable[Verdict | None]] | None
    ) -> Events:
        owner, turns, played = owner_of(self._ctx, wanted.person), self._ctx.turns, True
        while played and past and past.state in ("waiting", "open", "cut"):
            if past.state == "open" or await turns.busy(past.session_id, owner=owner):
                await asyncio.sleep(_LOOK)
            else:  # who was to play it is dead, with whatever comes before it there
                played, mine = False, past.state == "cut"
                async with contextlib.aclosing(turns.resume(past.session_id, owner=owner, ask=ask)) as events:
                    async for event in events:
                        played = played or isinstance(event, Started)
                        if mine:
                            yield event
                if mine and played:
                    return
            past = await self._past(wanted)
        if past is None or past.state in ("waiting", "open", "cut"):
            raise ApiError(409, "still_running", "This request runs elsewhere.", headers={"retry-after": _AGAIN})
        for event in _told(past):
            yield event


def owner_of(ctx: PluginContext, person: str) -> Principal:
    """Who a person is here; nobody is the owner."""
    return evolve(ctx.owner, person=person) if person else ctx.owner


def _told(past: PastTurn) -> list[Event]:
    """What a turn that is over came to, as events."""
    ids = {"session_id": past.session_id, "turn_id": past.turn_id}
    events: list[Event] = [Started(**ids, provider=past.provider, model=past.model)]
    if past.state == "done":
        events.append(Said(text=past.answer))
    elif past.state == "failed":
        events.append(Failed(kind="earlier", text=f"This request failed before: {past.error or 'no reason is known'}"))
    reason = past.state if past.state in ("done", "failed", "interrupted") else "failed"
    usage = past.usage if isinstance(past.usage, Usage) else Usage()
    return [*events, Ended(**ids, answer=past.answer, reason=reason, usage=usage)]
