"""Turns for clients: so many at once, each request once, and none that nobody waits for."""

import asyncio
import contextlib
import os
from functools import partial

from attrs import evolve

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError
from hermes_core.types import (
    Ended,
    Message,
    PastTurn,
    Principal,
    Question,
    Said,
    Started,
    Text,
    TurnOrder,
)
from hermes_platform_api.client_tools import ClientTools, event_of_call, held_turns, renamed
from hermes_platform_api.errors import ApiError, of_refused
from hermes_platform_api.heads import Head, Heads, Keys
from hermes_platform_api.held import HeldTurn
from hermes_platform_api.kept import Events, Kept
from hermes_platform_api.past import chosen_in, owner_of, told
from hermes_platform_api.places import Places
from hermes_platform_api.turn_request import TurnRequest

__all__ = ["Turns"]

_LOOK = 0.5  # seconds between two looks at a turn that another process plays
_REPEATED = 300.0  # seconds in which a request with a key finds what it came to, where no row tells it
_AGAIN = "1"  # seconds after which a client that was turned away may come again


class Turns:
    """Plays the turns that clients ask for."""

    def __init__(self, ctx: PluginContext, most: int, wait: float = 600.0, *, shared: bool = False) -> None:
        """``wait``: seconds a turn waits for results of its client's tools; ``shared``: others have keys, too."""
        self._ctx, self._wait, self._with_tools = ctx, wait, held_turns(ctx)
        self._heads, self._keys = Heads(ctx.documents, ctx.sessions), Keys(ctx.documents)
        self._kept: dict[str, Kept] = {}
        self._held_turns: set[HeldTurn] = set()
        self._sessions: dict[str, int] = {}
        self.places = Places(most, shared=shared)

    def busy(self, session: str) -> bool:
        """Whether a turn that began here runs in a session."""
        return session in self._sessions

    def waits(self, session: str) -> str:
        """The first call that the client of a session's turn has; empty where the turn waits for none."""
        held = self._with_tools.at(session)
        return next(iter(held.handed), "") if held else ""

    async def goes_on(self, wanted: TurnRequest) -> bool:
        """Whether a turn waits for what a request brings, or waited when it was cut by a death. Raises ApiError."""
        here = self._repeated(wanted) or self._with_tools.waiting(wanted.person, wanted.results)
        past = None if here else await self._first(wanted)
        return bool(here) or (past is not None and past.state == "cut")

    async def name(self, wanted: TurnRequest) -> str:
        """What the answer to a request is found by: the turn's event, and more where the turn has several answers."""
        first = next((e for name in wanted.results if (e := event_of_call(name))), "")
        return f"{first}_{wanted.event[:8]}" if first and await self.goes_on(wanted) else wanted.event

    def kept(self, event: str, person: str) -> Kept | None:
        """A turn that goes on without its client."""
        found = self._kept.get(event)
        return found if found and found.person == person else None

    async def play(self, wanted: TurnRequest) -> Events:
        """Its events, an Ended last; closing them interrupts it, unless it can be asked for again. Raises ApiError."""
        if wanted.tools or wanted.results:
            async with contextlib.aclosing(self._handing(wanted)) as turn:
                async for event in turn:
                    yield event
            return
        if wanted.repeats:
            async for one in (await self.keep(wanted)).read():
                if not isinstance(one, Question):
                    yield one
            return
        self.places.take(wanted.person)
        try:
            async with contextlib.aclosing(self._watched(self._turn(wanted))) as turn:
                async for event in turn:
                    yield event
        finally:
            self.places.give(wanted.person)

    async def keep(self, wanted: TurnRequest, seconds: float = 0.0) -> Kept:
        """Play it whether or not somebody listens, or find it where it was played. Raises ApiError.

        Its events can be read for so many seconds after its end.
        """
        if found := self.kept(wanted.event, wanted.person):
            return found
        await self._bind(wanted)
        if found := self.kept(wanted.event, wanted.person):  # it came twice, and the other was faster
            return found
        self.places.take(wanted.person)
        kept = Kept(wanted.person)
        self._begin(wanted.event, kept, self._once(wanted, kept), seconds)
        return kept

    async def take_up(self, event: str, person: str, seconds: float) -> Kept | None:
        """Go on with a turn that a death cut off, or kept from its turn; None where there is none, or it is played.

        Its events from here on can be read as those of ``keep``. Waits while as many turns run as may.
        """
        wanted = TurnRequest(person=person, event=event, message=Message(role="user", parts=()))
        if not await self.places.wait(person):
            return None
        kept: Kept | None = None
        try:
            past = await self._past(wanted)
            if past and await self._is_left(past, person) and not self.kept(event, person):
                kept = Kept(person)
                kept.session = past.session_id
                self._begin(event, kept, self._again(past, wanted, kept), seconds)
        finally:
            if kept is None:
                self.places.give(person)
        return kept

    async def _is_left(self, past: PastTurn, person: str) -> bool:
        """Whether nobody plays a turn that a death cut off, or kept from its turn."""
        if past.state != "waiting":
            return past.state == "cut"
        return not await self._ctx.turns.busy(past.session_id, owner=owner_of(self._ctx, person))

    async def finish(self, session: str, person: str) -> None:
        """Finish the turn that a death cut off in a session, and play what waits there; nobody is asked."""
        if not await self.places.wait(person):
            return
        events = self._ctx.turns.resume(session, owner=owner_of(self._ctx, person))
        self._begin(f"session {session}", Kept(person), events, 0.0)

    def _begin(self, name: str, kept: Kept, events: Events, seconds: float) -> None:
        """Play something under a name, of which nothing is known any more so many seconds after its end."""
        loop, self._kept[name] = asyncio.get_running_loop(), kept

        def done() -> None:
            self.places.give(kept.person)
            loop.call_later(seconds, self._kept.pop, name, None)

        kept.begin(self._watched(events), done)

    async def _handing(self, wanted: TurnRequest) -> Events:
        """The events of a turn that may call its client's tools, until the client has the word. Raises ApiError."""
        held, at = await self._held(wanted)
        shown = ""
        if at:
            yield held.started
        try:
            async with contextlib.aclosing(held.segment(at)) as turn:
                async for event in turn:
                    if isinstance(event, Said):
                        shown += event.text
                    elif isinstance(event, Ended) and event.reason == "done" and wanted.results and not wanted.session:
                        ends = [Head(wanted.system, wanted.whole).ended(said) for said in (event.answer, shown)]
                        await self._heads.put(owner_of(self._ctx, wanted.person), event.session_id, ends)
                    yield event
        finally:
            if not wanted.repeats:
                await held.left()

    async def _held(self, wanted: TurnRequest) -> tuple[HeldTurn, int]:
        """Find, go on with or begin the turn of a request, and where its answer begins. Raises ApiError."""
        if found := self._repeated(wanted):
            return found
        again = await self._bind(wanted)
        if found := self._repeated(wanted):
            return found
        if held := self._with_tools.waiting(wanted.person, wanted.results):
            self.places.take(wanted.person)
            try:
                at = await self._go_on(held, wanted)
            except BaseException:
                self.places.give(wanted.person)
                raise
            self._remember(wanted, held)
            return held, at
        await self._check_tools(wanted)
        past = await self._first(wanted)
        cut = past if past and (past.state == "cut" or (again and past.state == "done")) else None
        if wanted.late and past and past.state in ("interrupted", "failed") and past.last:
            wanted = evolve(wanted, session=past.session_id, message=wanted.late)
        event = event_of_call(next(iter(wanted.results))) if cut else wanted.event
        answers = wanted.results if cut else None
        given = wanted.tools or ClientTools(tools=())
        self.places.take(wanted.person)
        paused = partial(self.places.give, wanted.person)
        held = HeldTurn(wanted.person, event, given, seconds=self._wait, paused=paused, answers=answers)
        self._held_turns.add(held)
        self._remember(wanted, held)
        same = evolve(wanted, event=event)
        events = self._again(cut, same, held) if cut else self._once(same, held)
        held.begin(self._watched(events), lambda: self._ended(held))
        return held, 0

    async def _check_tools(self, wanted: TurnRequest) -> None:
        """Raises ApiError where a model would not be told of a client's tools."""
        if wanted.tools and not self._with_tools.asked:
            await self._ctx.plugins.tools("api")
        if wanted.tools and not self._with_tools.asked:
            text = "Tools of clients are left out here: add client to toolsets in the settings."
            raise ApiError(400, "client_tools_off", text, param="tools")

    def _remember(self, wanted: TurnRequest, held: HeldTurn) -> None:
        if wanted.repeats:
            self._kept[wanted.event] = held

    def _repeated(self, wanted: TurnRequest) -> tuple[HeldTurn, int] | None:
        """What a request came to that came before."""
        found = self.kept(wanted.event, wanted.person)
        at = found.start(wanted.event) if isinstance(found, HeldTurn) else None
        return (found, at) if isinstance(found, HeldTurn) and at is not None else None

    async def _go_on(self, held: HeldTurn, wanted: TurnRequest) -> int:
        """Give a turn what it waits for. What its client says besides is heard with it."""
        held.check(wanted.results)
        if wanted.words:
            owner = owner_of(self._ctx, wanted.person)
            await self._ctx.turns.steer(held.session, wanted.words, owner=owner)
        return held.answer(wanted.results, wanted.event)

    async def _first(self, wanted: TurnRequest) -> PastTurn | None:
        """The turn that asked for these results. Raises ApiError while it does something else."""
        event = next((e for name in wanted.results if (e := event_of_call(name))), "")
        past = await self._ctx.turns.past(event, owner=owner_of(self._ctx, wanted.person)) if event else None
        if past and past.state == "open":
            raise ApiError(409, "still_running", "This turn does not wait for that.", headers={"retry-after": _AGAIN})
        return past

    def _ended(self, held: HeldTurn) -> None:
        if not held.handed:  # else its place was given back when it began to wait
            self.places.give(held.person)
        self._with_tools.leave(held)
        self._held_turns.discard(held)
        later = asyncio.get_running_loop().call_later
        for event in [name for name, kept in self._kept.items() if kept is held]:
            later(_REPEATED, self._kept.pop, event, None)

    async def give_up(self, session: str) -> None:
        """Stop the turn of a session that waits for its client."""
        other = self._with_tools.at(session)
        if other and other.handed:
            await other.stop()

    async def _enter(self, session: str, kept: Kept | None) -> None:
        """See that a session is free for the tools of a turn. Raises ApiError."""
        other = self._with_tools.at(session)
        if other and other is not kept and other.handed:  # its client says something else instead
            await self.give_up(session)
        elif other and other is not kept and isinstance(kept, HeldTurn):
            raise ApiError(409, "session_busy", "A turn with tools of yours runs in this session.")
        if isinstance(kept, HeldTurn):
            await self._with_tools.enter(session, kept)

    async def leave(self) -> None:
        """Leave what runs, and what waits for its client, to whoever serves next: it is no turn of ours any more."""
        for kept in {*self._kept.values(), *self._held_turns}:
            kept.goes_on = True
        with contextlib.suppress(HermesError):  # else they are found when this process is gone
            await self._ctx.host.records.leave()

    async def close(self) -> None:
        """Interrupt what runs."""
        for kept in {*self._kept.values(), *self._held_turns}:
            await kept.stop()
        self._kept.clear()

    async def _bind(self, wanted: TurnRequest) -> bool:
        """Whether a request came before. Raises ApiError where its key came with another one."""
        if not wanted.key:
            return False
        bound = await self._keys.bind(owner_of(self._ctx, wanted.person), wanted.key, wanted.event)
        if bound == "other":
            text = "This Idempotency-Key came with another request before. Use a new key for a new request."
            raise ApiError(422, "idempotency_key_reused", text, headers={"x-should-retry": "false"})
        return bound == "again"

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
            # Its client left while it waited, and nobody asks for it again.
            if not begun and (kept is None or (isinstance(kept, HeldTurn) and not wanted.repeats)):
                with contextlib.suppress(HermesError):
                    await self._ctx.turns.forget(wanted.event, owner=owner)

    async def _ordered(self, owner: Principal, wanted: TurnRequest, head: Head | None, kept: Kept | None) -> Events:
        session, shown = wanted.session, ""
        if head and wanted.history:
            session = await self._heads.take(owner, str(head)) or await self._begun(owner, wanted)

        if not session and isinstance(kept, HeldTurn):  # its tools are there before its first turn
            session = f"api-{os.urandom(8).hex()}"
        if session:
            await self._enter(session, kept)

        async def stored(session: str) -> None:
            if kept and not kept.stored.done():
                kept.session = session
                kept.stored.set_result(None)

        order = await self._order(owner, session, wanted)
        ask = kept.ask if kept and not isinstance(kept, HeldTurn) else None
        hint = [Text(text=wanted.tools.hint)] if wanted.tools and wanted.tools.hint else []
        message = evolve(wanted.message, parts=(*wanted.message.parts, *hint))
        turn = self._ctx.turns.run(message, owner=owner, order=order, ask=ask, stored=stored)
        async with contextlib.aclosing(turn) as events:
            async for event in events:
                if isinstance(event, Said):
                    shown += event.text
                elif head and isinstance(event, Ended) and event.reason == "done":
                    head.add(wanted.message)
                    ends = [head.ended(answer) for answer in (event.answer, shown)]
                    await self._heads.put(owner, event.session_id, ends)
                yield event

    async def _order(self, owner: Principal, session: str, wanted: TurnRequest) -> TurnOrder:
        """What a request says of its turn; what it does not is as a command chose it for the session."""
        chosen = await chosen_in(self._ctx.documents, owner, session) if session else {}
        model, effort = wanted.model or chosen.get("model", ""), wanted.effort or chosen.get("effort", "")
        return TurnOrder(session=session, system=wanted.system, event=wanted.event, model=model, effort=effort)

    async def _begun(self, owner: Principal, wanted: TurnRequest) -> str:
        history = renamed(wanted.history, wanted.tools)
        return (await self._ctx.sessions.create(owner, system=wanted.system, history=history)).id

    async def _once(self, wanted: TurnRequest, kept: Kept) -> Events:
        """It, or what came of it when it was played before, by whichever process."""
        past = await self._past(wanted) if wanted.repeats else None
        events = self._again(past, wanted, kept) if past else self._turn(wanted, kept)
        async with contextlib.aclosing(events) as turn:
            async for event in turn:
                yield event

    async def _past(self, wanted: TurnRequest) -> PastTurn | None:
        return await self._ctx.turns.past(wanted.event, owner=owner_of(self._ctx, wanted.person))

    async def _again(self, past: PastTurn | None, wanted: TurnRequest, kept: Kept | None) -> Events:
        owner, turns, played = owner_of(self._ctx, wanted.person), self._ctx.turns, True
        ask = kept.ask if kept and not isinstance(kept, HeldTurn) else None
        if past and isinstance(kept, HeldTurn):
            await self._enter(past.session_id, kept)
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
        for event in told(past):
            yield event
