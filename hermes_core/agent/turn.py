"""One turn, from a person's message to the final answer.

Every step is a row before anyone acts on it: the message, the model's whole reply, each call as started, each call as
finished, the end. A model request has no effect to protect, so the first one leaves while its rows are being written,
as do those that tell of one call; their replies are not acted on before they are.
"""

import asyncio
import logging
import os
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from typing import Literal

from attrs import evolve

from hermes_core import trace
from hermes_core.agent.asking import Asker
from hermes_core.agent.bounds import answers
from hermes_core.agent.ending import Endings
from hermes_core.agent.exchange import Exchange
from hermes_core.agent.failed import cause, failed, given_up
from hermes_core.agent.meter import Meter
from hermes_core.agent.reply_assembler import has_calls
from hermes_core.agent.rows import TurnRows
from hermes_core.agent.session_state import OpenSessions, SessionState
from hermes_core.agent.shown import Shown
from hermes_core.agent.stepping import ended
from hermes_core.agent.turn_origin import TurnOrigin
from hermes_core.codec import plain_text
from hermes_core.errors import BoundReached, HermesError, ProviderError
from hermes_core.plugins.fence import stopped
from hermes_core.store.killpoints import die_at
from hermes_core.store.outside import by_person
from hermes_core.store.validity import valid
from hermes_core.types import (
    JSON,
    Called,
    Ended,
    Envelope,
    Event,
    Message,
    Part,
    Said,
    Session,
    Started,
    Text,
    ToolCall,
    TurnEnd,
    TurnResult,
    Usage,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.store.leases import Turn
    from hermes_core.store.store import Store

__all__ = ["TurnRun"]

log = logging.getLogger(__name__)
State = Literal["done", "failed", "interrupted"]

_STOP_GRACE, _CLOSE_GRACE = 0.5, 0.3  # seconds for what runs to end when a turn is stopped, and for its rows
_RESUMES = 3  # a turn whose process dies again and again is not taken up for ever


class TurnRun:
    """Plays one turn. Ends by itself, by an error, or by being cancelled; an Ended event is always the last."""

    def __init__(
        self,
        sessions: OpenSessions,
        state: SessionState,
        *,
        turn_origin: TurnOrigin,
        emit: Callable[[Event], None],
        over: Callable[[str], None],
    ) -> None:
        """``over`` is told the session once the turn is over but for its rows."""
        self._sessions, self._runtime, self._state = sessions, sessions.runtime, state
        runtime, self._turn_origin, self._over = self._runtime, turn_origin, over
        seconds = None if turn_origin.above or turn_origin.lasting else runtime.settings.config.policy.ask_seconds
        self._asker = Asker(runtime.dispatch, turn_origin.ask, emit, runtime.store, seconds)
        self._shown = Shown(self._runtime, emit)
        self._emit = emit = self._shown.emit
        self._meter = Meter(self._runtime, state, turn_origin.bounds, turn_origin.above)
        self._ends = Endings(self._runtime, emit)
        self._id = os.urandom(16).hex()
        self._rows = TurnRows(sessions, state)
        self._model = Exchange(self._runtime, state, self._rows, self._meter, emit)
        self._model.returns = turn_origin.returns
        self._changed = self._error = ""
        self._began = time.monotonic()

    @property
    def refused(self) -> bool:
        """Whether nothing of who speaks in it was to run: it came to nothing that could be learned from."""
        return bool(self._rights.refused)

    @property
    def session(self) -> Session:
        """The session it plays in."""
        return self._state.session

    @property
    def messages(self) -> list[Message]:
        """The history so far."""
        return self._model.messages

    async def play(
        self,
        message: Message,
        *,
        original: Envelope | None = None,
        waited: int = 0,
        patient: bool = False,
        stored: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """Run a turn to its end; errors become Failed events. Raises HermesError when it cannot begin.

        ``original`` is what came in, before plugins changed it; ``waited`` the row of a message that waited for its
        turn. ``stored`` is called when it has its row. Who is ``patient`` leaves a session that a death cut off: Busy.
        """
        runtime, session, origin = self._runtime, await self._speaking(), self._turn_origin
        self._model.route = await runtime.routes.get_for(origin.model, origin.effort, self._rights.models)
        await self._state.closed()
        await self._sessions.renew(self._state, origin.bounds)
        self._model.specs = self._state.specs
        if not self._rights.refused:
            message = await runtime.memory.prefetched(session, message)
        history = await (await runtime.store()).history.load(session.id) if self._state.known else []
        self._model.messages = valid([*history, message])
        opening = self._rows.open(self._id, self._model.route, message, original, waited, patient, stored)
        await self._run(opening, self._steps(), surely=stored is not None)

    async def _speaking(self) -> Session:
        """Let the session know who speaks in it now, and what they may do."""
        speaker, session = self._turn_origin.speaker, self._state.session
        self._rights = await self._runtime.guests.now(session.owner, speaker)
        self._state.session = session = evolve(session, speaker=speaker, rights=self._rights)
        return session

    async def resume(self) -> bool:
        """Run the turn that a dead process left open to its end, if there is one. Raises like ``play``."""
        runtime, state = self._runtime, self._state
        await self._speaking()
        self._model.route = await runtime.routes.get_for("", "", self._rights.models)
        await state.closed()
        store = await runtime.store()
        taken = await store.journal.resume_turn(state.session.id, holder=self._sessions.holder, left=state.left)
        if taken is None:
            return False
        self._id, self._model.messages = taken.turn.id, list(taken.history)
        self._ends.take_up(taken.history)
        self._meter.book(taken.usage)
        await self._as_begun(taken.provider, taken.model)
        steps = self._rest(taken.calls) if taken.resumes < _RESUMES else self._give_up(taken.calls)
        with trace.using(taken.trace):
            await self._run(self._rows.opened(store, taken.turn), steps)
        return True

    async def _as_begun(self, provider: str, model: str) -> None:
        """Go on with what the turn began with, whatever this process was started with; say what is gone."""
        gone = []
        route = await self._runtime.routes.find(provider, model)
        if route and answers(self._rights.models, route.name, route.model):
            self._model.route = route
        else:
            gone.append(f"{provider}:{model}, so {self._model.route.name}:{self._model.route.model} went on")
        if self._runtime.toolbox().has(self._state.begun, self._state.session):
            self._model.specs = self._state.begun
        else:
            gone.append("some of its tools")
        if gone:
            self._changed = f"This turn was begun with what is not there now: {'; '.join(gone)}."

    async def _give_up(self, calls: Mapping[str, str]) -> str:
        parts = (p for m in self._model.messages for p in m.parts if isinstance(p, ToolCall))
        at = ", ".join(sorted({p.name for p in parts if calls.get(p.id) == "started"}))
        raise given_up(_RESUMES + 1, at)

    async def _run(
        self,
        opening: "Coroutine[None, None, tuple[Store, Turn]]",
        steps: Coroutine[None, None, str],
        surely: bool = False,
    ) -> None:
        session, route = self._state.session, self._model.route
        bounds, there = self._turn_origin.bounds, self._turn_origin.ask is not None and not self._turn_origin.above
        self._state.session = evolve(session, turn=self._id, bounds=bounds, attended=there)
        self._rows.begin(opening)
        try:
            if surely:  # who is told when it is stored may hear it again: no model is asked twice
                await self._rows.get()
        except BaseException:
            steps.close()
            self._rows.rest()
            raise
        self._state.count, self._state.keep = self._meter.book, partial(self._model.keep_shown, left=True)
        self._emit(Started(session_id=session.id, turn_id=self._id, provider=route.name, model=route.model))
        said = next((m for m in reversed(self._model.messages) if by_person(m)), Message(role="user", parts=()))
        await self._runtime.dispatch.observe("on_turn_start", session=self._state.session, message=said)
        await self._shown.begin(self._state.session)
        playing = asyncio.create_task(steps)  # of its own, as it may not want to end
        try:
            await asyncio.wait({playing}, timeout=self._meter.given_seconds)
            if not playing.done():
                self._model.over = True
                await stopped(playing, _STOP_GRACE)
                raise BoundReached(f"This turn was given {self._meter.given_seconds:g} seconds, and they are over.")
            answer = playing.result()
        except asyncio.CancelledError:
            await asyncio.shield(self._interrupted(playing))
        except Exception as error:  # whatever a plugin raises ends this turn, not the program
            if not isinstance(error, HermesError):
                log.exception("a turn broke")
            await self._rows.settle()
            await self._close("failed", error=self._fail(cause(error)))
        else:
            die_at("answered")
            await self._close("done", *await self._shown.whole(self._state.session, answer))
        finally:
            self._state.count = self._state.keep = None
            bare = evolve(self._state.session, turn="", untrusted=False, bounds=None, attended=False, speaker=None)
            self._state.session = evolve(bare, rights=self._runtime.guests.of(bare))
            self._rows.rest()

    def _fail(self, error: HermesError) -> str:
        """Say why the turn cannot go on, without secrets."""
        told = failed(error, self._runtime.settings.masks.text)
        self._error = error.reason if isinstance(error, ProviderError) else told.kind
        self._emit(told)
        return told.text

    async def _interrupted(self, playing: "asyncio.Task[str]") -> None:
        """End within a second, whatever does not want to end or to be written."""
        self._model.over = True

        async def close() -> Literal["failed", "interrupted"]:
            await stopped(playing, _STOP_GRACE)
            return "interrupted" if await self._store_end("interrupted") else "failed"

        self._state.closing = closing = asyncio.create_task(close())
        done, _ = await asyncio.wait({closing}, timeout=_STOP_GRACE + _CLOSE_GRACE)
        await self._end(closing.result() if done else "interrupted")

    async def _rest(self, calls: Mapping[str, str]) -> str:
        """Go on after the last finished step; ``calls`` are those without a result."""
        last = next(m for m in reversed(self._model.messages) if m.role != "tool")
        asked = [p for p in last.parts if isinstance(p, ToolCall)]
        if last.role == "assistant" and not asked:  # the answer is there, only the turn was not closed
            answer = plain_text(last.parts)
            self._emit(Said(text=answer))
            if not await self._goes_on(last):
                return answer
            return await self._steps(1 + self._meter.used.calls)
        if waiting := [call for call in asked if call.id in calls]:
            await self._call(waiting, started={i for i, state in calls.items() if state == "started"})
            store, turn = await self._rows.get()
            self._model.messages = await store.history.load(turn.session_id)
        return await self._steps(1 + self._meter.used.calls)

    async def _steps(self, step: int = 1) -> str:
        while True:
            if answer := await self._ended_before(step):
                return answer
            try:
                await self._meter.check_step()
                message = await self._model.reply()
            except BoundReached as reached:
                await self._meter.check_last(reached)
                return await self._last_word(reached)
            calls = [p for p in message.parts if isinstance(p, ToolCall)]
            if not calls:
                if not await self._goes_on(message):
                    return plain_text(message.parts)
                step += 1
                continue
            await self._call(calls)
            step += 1

    async def _goes_on(self, reply: Message) -> bool:
        """Tell whether plugins send the model on, after a reply that would be the answer; then it is told so next."""
        arguments = self._state.session, plain_text(reply.parts), self._model.messages, self._meter.used
        more = None if self._model.cut else await self._ends.more(*arguments)
        if more is None:
            return False
        store, turn = await self._rows.get()
        await store.journal.add_words(turn, [more])
        die_at("sent_on")
        self._model.messages.append(more)
        self._ends.tell(more)
        return True

    async def _last_word(self, reached: HermesError) -> str:
        """Make one more call when they are used up: without tools, it says how far it came. Raises what was reached."""
        message = await self._model.reply(last=True)
        if has_calls(message):
            raise reached
        return plain_text(message.parts)

    async def _ended_before(self, step: int) -> str:
        """Return the last words of a turn that ends before a model call; empty where it goes on. Raises UserError."""
        session, used, said = self._state.session, self._meter.used, self._model.messages
        answer, words = await ended(self._runtime, self._asker, session, number=step, usage=used, messages=said)
        if not answer:
            return ""
        store, turn = await self._rows.get()
        if words:
            await self._sessions.say_next(self._state, words)
        message = Message(role="assistant", parts=(Text(text=answer),))
        await store.journal.add_reply(turn, message, Usage(), "stop")
        self._model.messages.append(message)
        self._emit(Said(text=answer))
        return answer

    async def _call(self, calls: Sequence[ToolCall], started: AbstractSet[str] = frozenset()) -> None:
        from hermes_core.agent.outputs import output_room
        from hermes_core.agent.policy.taint import Seen
        from hermes_core.agent.tools import CallRunner  # many turns call nothing

        for call in calls:
            self._emit(Called(call=call))
        runtime, state, route = self._runtime, self._state, self._model.route
        store, turn = await self._rows.get()
        seen = Seen(messages=self._model.messages)
        if seen.untrusted and not state.session.untrusted:
            state.session = evolve(state.session, untrusted=True)
        place, state.workspace = state.workspace, await runtime.workspaces.open(state.session, state.workspace)
        if state.workspace is not place:
            state.permitted.clear()
        if not state.ran:
            state.ran |= await store.history.tools_that_ran(turn.session_id)
        runner = CallRunner(
            store=store,
            turn=turn,
            session=state.session,
            runtime=runtime,
            workspace=state.workspace,
            permits=state.permitted,
            sessions=self._sessions,
            tools=runtime.toolbox().callable(self._model.specs, state.session),
            specs=self._model.specs,
            emit=self._emit,
            beside=self._rows.beside,
            asker=self._asker,
            ran=state.ran,
            seen=seen,
            meter=self._meter,
            started=started,
            model=f"{route.name}:{route.model}",
            room=output_room(runtime.settings.config.agent.output_bytes, runtime.models.window(route), len(calls)),
        )
        self._model.messages.extend(await runner.run(calls))

    async def _close(self, state: State, answer: str = "", files: Sequence[Part] = (), error: str = "") -> None:
        stored = await self._store_end(state, error, answer, files)
        await self._end(state if stored else "failed", answer if stored else "")

    async def _store_end(self, state: State, error: str = "", answer: str = "", files: Sequence[Part] = ()) -> bool:
        """Write down that the turn ended. False, told, when that could not be, and the turn did not fail anyway."""
        self._log(state, error)
        ids = {"session_id": self.session.id, "turn_id": self._id}
        if (answer or files) and (note := self._note(answer or files)):  # it is sent with what one should know of it
            answer = f"{answer}\n\n({note})".lstrip()
        result = TurnResult(**ids, state=state, answer=answer, parts=files, error=error)
        try:
            also = await self._turn_origin.ends(result) if self._turn_origin.ends else None
            self._over(self.session.id)
            if state == "interrupted":
                await self._model.keep_shown()
            await self._rows.close(state, error, also)
        except Exception as fault:  # noqa: BLE001 - the store fails, or never opened
            if state != "failed":
                self._fail(cause(fault))
                return False
        return True

    async def _end(self, state: State, answer: str = "") -> None:
        seconds = time.monotonic() - self._began
        end = TurnEnd(reason=state, usage=self._meter.used, seconds=seconds, error=self._error)
        await self._runtime.dispatch.observe("on_turn_end", session=self._state.session, end=end)
        ids = {"session_id": self._state.session.id, "turn_id": self._id}
        note = self._note(answer)
        self._emit(Ended(**ids, answer=answer, reason=state, usage=self._meter.used, note=note))

    def _note(self, answer: object) -> str:
        known = (self._model.note, self._model.compacted, self._ends.note) if answer else ()
        return " ".join(filter(None, (self._changed, *known)))

    def _log(self, state: str, error: str) -> None:
        used = self._meter.used
        fields: dict[str, JSON] = {"session": self._state.session.id, "turn": self._id, "state": state}
        fields |= {"provider": self._model.route.name, "model": self._model.route.model}
        fields |= {"calls": used.calls, "input": used.input, "output": used.output}
        fields |= {"seconds": round(time.monotonic() - self._began, 3)} | ({"error": error} if error else {})
        log.log(logging.ERROR if error else logging.INFO, "turn", extra={"fields": fields})
