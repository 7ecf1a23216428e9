"""One turn, from a person's message to the final answer.

Every step is a row before anyone acts on it: the message, the model's whole reply, each call as started, each call as
finished, the end. A model request has no effect to protect, so the first one leaves while its rows are being written;
its reply is not acted on before they are.
"""

import asyncio
import contextlib
import logging
import os
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Literal

from attrs import evolve

from hermes_core.agent import grace, toolsearch
from hermes_core.agent import usage as usages
from hermes_core.agent.asking import Asker
from hermes_core.agent.bounds import Limits, Meter
from hermes_core.agent.budget import Allowance, Budgets
from hermes_core.agent.failed import cause, failed, given_up
from hermes_core.agent.live import Live, LiveSessions
from hermes_core.agent.loops import Loops
from hermes_core.agent.policy import AskPerson
from hermes_core.agent.rewriting import Rewriting
from hermes_core.agent.route import windows
from hermes_core.agent.route.call import ModelCall
from hermes_core.agent.rows import Rows
from hermes_core.agent.stuck import ask_what_now
from hermes_core.agent.tools import CallRunner
from hermes_core.agent.whole import Whole, has_calls, nudged, text_of
from hermes_core.errors import BudgetReached, HermesError
from hermes_core.store.killpoints import die_at
from hermes_core.store.validity import valid
from hermes_core.types import (
    JSON,
    Called,
    Delta,
    Ended,
    Envelope,
    Event,
    Message,
    Noticed,
    ReasoningDelta,
    Request,
    Response,
    Said,
    Session,
    Started,
    Text,
    TextDelta,
    Thinking,
    ToolCall,
    Usage,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.store.journal import Store, Turn

__all__ = ["TurnRun", "text_of"]

log = logging.getLogger(__name__)
State = Literal["done", "failed", "interrupted"]

_CUT = "The answer was cut: the model reached its output limit. Say `go on`, or raise model.max_tokens."
_OUT_OF_CALLS = "You have used all the steps of this turn. Answer now with what you have, and say what is left to do."
_STOP_GRACE, _CLOSE_GRACE = 0.5, 0.3  # seconds for what runs to end when a turn is stopped, and for its rows
_RESUMES = 3  # a turn whose process dies again and again is not taken up for ever


class TurnRun:
    """Plays one turn. Ends by itself, by an error, or by being cancelled; an Ended event is always the last."""

    def __init__(
        self,
        sessions: LiveSessions,
        live: Live,
        *,
        budgets: Budgets,
        ask: AskPerson | None = None,
        emit: Callable[[Event], None],
    ) -> None:
        self._sessions, self._parts, self._live = sessions, sessions.parts, live
        self._asker, self._emit = Asker(self._parts.dispatch, ask, emit), emit
        self._allowance = Allowance(budgets, live.session, self._parts.store)
        self._budgets = budgets
        workers = self._parts.settings.config.agent.tool_workers
        self._meter = Meter(Limits(**budgets.limits["turn"]), workers, lambda: self._allowance.used)
        self._loops = Loops()
        self._specs = live.specs
        self._id = os.urandom(16).hex()
        self._rows = Rows(sessions, live)
        self._note = self._changed = self._compacted = self._stood_in = ""
        self._calls: list[ModelCall] = []  # those that are not booked yet
        self._fits = 0  # tokens, once the model refused more
        self._began = time.monotonic()
        self._over = False

    @property
    def session(self) -> Session:
        """The session it plays in."""
        return self._live.session

    async def play(
        self,
        message: Message,
        *,
        original: Envelope | None = None,
        waited: int = 0,
        stored: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """Run a turn to its end; errors become Failed events. Raises HermesError when it cannot begin.

        ``original`` is what came in, before plugins changed it; ``waited`` the row of a message that waited for its
        turn. ``stored`` is called when it has its row.
        """
        parts, session = self._parts, self._live.session
        self._route = await parts.routed()
        await self._live.closed()
        history = await (await parts.store()).history(session.id) if self._live.known else []
        self.messages = valid([*history, message])
        await self._run(self._rows.open(self._id, self._route, message, original, waited, stored), self._steps())

    async def resume(self) -> bool:
        """Run the turn that a dead process left open to its end, if there is one. Raises like ``play``."""
        parts, live = self._parts, self._live
        self._route = await parts.routed()
        await live.closed()
        store = await parts.store()
        taken = await store.resume_turn(live.session.id, holder=self._sessions.holder, left=live.left)
        if taken is None:
            return False
        self._id, self.messages = taken.turn.id, list(taken.history)
        self._allowance.used = self._allowance.booked = taken.usage
        await self._as_begun(taken.provider, taken.model)
        steps = self._rest(taken.calls) if taken.resumes < _RESUMES else self._give_up(taken.calls)
        await self._run(self._rows.opened(store, taken.turn), steps)
        return True

    async def _as_begun(self, provider: str, model: str) -> None:
        """Go on with what the turn began with, whatever this process was started with; say what is gone."""
        gone = []
        if route := await self._parts.route_to(provider, model):
            self._route = route
        else:
            gone.append(f"{provider}:{model}, so {self._route.name}:{self._route.model} went on")
        if self._parts.toolbox().has(self._live.begun):
            self._specs = self._live.begun
        else:
            gone.append("some of its tools")
        if gone:
            self._changed = f"This turn was begun with what is not there now: {'; '.join(gone)}."

    async def _give_up(self, calls: Mapping[str, str]) -> str:
        parts = (p for m in self.messages for p in m.parts if isinstance(p, ToolCall))
        at = ", ".join(sorted({p.name for p in parts if calls.get(p.id) == "started"}))
        raise given_up(_RESUMES + 1, at)

    async def _run(
        self, opening: "Coroutine[None, None, tuple[Store, Turn]]", steps: Coroutine[None, None, str]
    ) -> None:
        session, route = self._live.session, self._route
        self._live.session = evolve(session, turn=self._id)
        self._emit(Started(session_id=session.id, turn_id=self._id, provider=route.name, model=route.model))
        self._rows.begin(opening)
        playing = asyncio.create_task(steps)  # of its own, as it may not want to end
        try:
            await asyncio.wait({playing})
            answer = playing.result()
        except asyncio.CancelledError:
            await asyncio.shield(self._interrupted(playing))
        except Exception as error:  # whatever a plugin raises ends this turn, not the program
            if not isinstance(error, HermesError):
                log.exception("a turn broke")
            told = cause(error)
            self._emit(failed(told))
            await self._close("failed", error=told.text)
        else:
            die_at("answered")
            await self._close("done", answer)
        finally:
            self._live.session = evolve(self._live.session, turn="")
            self._rows.rest()

    async def _interrupted(self, playing: "asyncio.Task[str]") -> None:
        """End within a second, whatever does not want to end or to be written."""
        self._over = True

        async def close() -> Literal["failed", "interrupted"]:
            await grace.stop(playing, _STOP_GRACE)
            await self._allowance.land()
            return "interrupted" if await self._store_end("interrupted") else "failed"

        self._live.closing = closing = asyncio.create_task(close())
        done, _ = await asyncio.wait({closing}, timeout=_STOP_GRACE + _CLOSE_GRACE)
        self._end(closing.result() if done else "interrupted")

    async def _rest(self, calls: Mapping[str, str]) -> str:
        """Go on after the last finished step; ``calls`` are those without a result."""
        store, turn = await self._rows.get()
        last = next(m for m in reversed(self.messages) if m.role != "tool")
        asked = [p for p in last.parts if isinstance(p, ToolCall)]
        if last.role == "assistant" and not asked:  # the answer is there, only the turn was not closed
            answer = text_of(last)
            self._emit(Said(text=answer))
            return answer
        if waiting := [call for call in asked if call.id in calls]:
            await self._call(waiting, started={i for i, state in calls.items() if state == "started"})
            self.messages = await store.history(turn.session_id)
        return await self._steps(1 + self._allowance.used.calls)

    async def _steps(self, step: int = 1) -> str:
        while True:
            try:
                await self._allowance.check()
                message = await self._reply(step)
            except BudgetReached as reached:
                if reached.what == "calls" and reached.scope != "day" and self._allowance.used.calls:
                    return await self._last_word(step, reached)
                raise
            calls = [p for p in message.parts if isinstance(p, ToolCall)]
            if not calls:
                return text_of(message)
            await self._call(calls)
            if self._loops.circle and (answer := await self._circling()):
                return answer
            step += 1

    async def _last_word(self, step: int, reached: BudgetReached) -> str:
        """The calls are used up: one more, without tools, says how far it came."""
        self._allowance.last = True
        message = await self._reply(step, last=True)
        if has_calls(message):
            raise reached
        return text_of(message)

    async def _circling(self) -> str:
        """The same came out again and again: go on if a person wants so, else end with what happened."""
        circle = self._loops.circle
        assert circle
        answer, words = await ask_what_now(circle, self._asker, self._live.session)
        if not answer:
            self._loops.go_on()
            return ""
        store, turn = await self._rows.get()
        if words:
            await self._sessions.say_next(self._live, words)
        message = Message(role="assistant", parts=(Text(text=answer),))
        await store.add_reply(turn, message, Usage(), "stop")
        self.messages.append(message)
        self._emit(Said(text=answer))
        return answer

    async def _reply(self, step: int, *, last: bool = False) -> Message:
        """One reply, stored; the ``last`` one without tools. What does not fit is built again for a smaller window."""

        async def build(fits: int) -> Request:
            self._fits = fits or self._fits
            request = await self._request(step)
            return nudged(evolve(request, tools=()), _OUT_OF_CALLS) if last else request

        return await windows.fitted(build, self._respond)

    async def _request(self, step: int) -> Request:
        said = self._said()
        messages = (Message(role="system", parts=(Text(text=self._live.prompt),)), *said)
        options = self._parts.options()
        fits = self._fits or self._parts.router.window(self._route)
        request = Request(model=self._route.model, messages=messages, tools=self._specs, options=options, context=fits)
        rewriting = Rewriting(said, sent=len(messages) - (step == 1))
        request = await self._parts.dispatch.transform(
            "pre_llm_call", "request", request, judge=rewriting.judge, session=self._live.session
        )
        if rewriting.by:
            request = await self._compact(request, rewriting)
        die_at("prompted")
        return request

    async def _compact(self, request: Request, rewriting: Rewriting) -> Request:
        """Put a new context in force before it leaves: the same bytes now, after a restart and in later turns."""
        store, turn = await self._rows.get()
        appended = request.messages[1 + len(rewriting.context) :]
        self._compacted = rewriting.summary(before=len(self.messages))
        context = [toolsearch.unwrapped(message) for message in rewriting.context]
        self.messages = await store.compact(turn, context, rewriting.by)
        die_at("compacted")
        return evolve(request, messages=(request.messages[0], *self._said(), *appended))

    def _said(self) -> Sequence[Message]:
        """The history as the model knows it."""
        searched = any(spec.name == toolsearch.CALL for spec in self._specs)
        return toolsearch.wrapped(self.messages) if searched else self.messages

    async def _respond(self, request: Request) -> Message:
        """One reply, stored. Raises BudgetReached, and Refused when the model answers nothing."""
        async with self._allowance.call():
            try:
                response = await self._whole(request)
            except Exception:
                await self._spend()
                raise
            unbooked = self._allowance.unbooked
            self._note = " ".join(filter(None, (_CUT if response.reason == "length" else "", self._stood_in)))
            response = evolve(response, message=toolsearch.unwrapped(response.message), usage=unbooked)
            store, turn = await self._rows.get()
            request = self._calls[-1].request
            await store.add_reply(turn, response.message, unbooked, response.reason, calls=self._booked())
            self._allowance.booked = self._allowance.used
        die_at("replied")
        self.messages.append(response.message)
        session = self._live.session
        await self._parts.dispatch.observe("post_llm_call", session=session, request=request, response=response)
        return response.message

    async def _whole(self, request: Request) -> Response:
        """The model's reply, asked for again where it is none yet."""
        whole = Whole(request)
        while whole.response is None:
            left = await self._allowance.check()
            try:
                async with asyncio.timeout(left) as clock:
                    call = await self._stream(whole.request)
            except TimeoutError:
                if clock.expired():
                    await self._allowance.check()
                raise
            self._calls.append(call)
            self._stood_in = call.note or self._stood_in
            self._allowance.add(call.response.usage)
            whole.add(call.response)
        return whole.response

    async def _spend(self) -> None:
        """Book calls that led to nothing; a store that fails is told of by what comes next."""
        if self._allowance.unbooked.calls:
            with contextlib.suppress(HermesError):
                store, turn = await self._rows.get()
                await store.spend(turn, self._allowance.unbooked, calls=self._booked())
                self._allowance.booked = self._allowance.used

    def _booked(self) -> list[tuple[str, str, Usage]]:
        """Who answered the calls that are booked now, and what each used."""
        calls, self._calls = self._calls, []
        return [(call.route.name, call.request.model, call.response.usage) for call in calls]

    async def _stream(self, request: Request) -> ModelCall:
        if self._over:  # a plugin swallowed the end of its turn; nothing is asked in its name
            raise asyncio.CancelledError
        held = list[Delta]()

        def tell(text: str) -> None:
            held.clear()  # what was held back is no part of the answer any more
            self._emit(Noticed(text=text))

        call = self._parts.router.call(self._route, request, tell=tell)
        async with contextlib.aclosing(call.stream()) as stream:
            async for delta in stream:
                held.append(delta)
                if self._rows.there:  # nothing is shown that a crash could not find again
                    self._show(held)
                die_at("mid_stream")
        await self._rows.get()
        self._show(held)
        return call

    def _show(self, held: list[Delta]) -> None:
        for delta in held:
            if isinstance(delta, TextDelta) and delta.text:
                self._emit(Said(text=delta.text))
            elif isinstance(delta, ReasoningDelta) and delta.text:
                self._emit(Thinking(text=delta.text))
        held.clear()

    async def _call(self, calls: Sequence[ToolCall], started: AbstractSet[str] = frozenset()) -> None:
        for call in calls:
            self._emit(Called(call=call))
        parts, live = self._parts, self._live
        store, turn = await self._rows.get()
        if live.workspace is None:
            live.workspace = await parts.workspace(live.session)
        if not live.ran:
            live.ran |= await store.tools_that_ran(turn.session_id)
        runner = CallRunner(
            store=store,
            turn=turn,
            session=live.session,
            parts=parts,
            workspace=live.workspace,
            tools=parts.toolbox().callable(self._specs),
            emit=self._emit,
            asker=self._asker,
            loops=self._loops,
            ran=live.ran,
            meter=self._meter,
            budgets=self._budgets,
            book=self._book,
            seconds=self._allowance.seconds,
            started=started,
        )
        self.messages.extend(await runner.run(calls))

    def _book(self, used: Usage) -> None:
        """Count what children used, as it is stored now."""
        self._allowance.used = usages.add(self._allowance.used, used)
        self._allowance.booked = usages.add(self._allowance.booked, used)

    async def _close(self, state: State, answer: str = "", error: str = "") -> None:
        stored = await self._store_end(state, error)
        self._end(state if stored else "failed", answer if stored else "")

    async def _store_end(self, state: State, error: str = "") -> bool:
        """Write down that the turn ended. False, told, when that could not be, and the turn did not fail anyway."""
        self._log(state, error)
        try:
            await self._rows.close(state, error)
        except Exception as fault:  # noqa: BLE001 - the store fails, or never opened
            if state != "failed":
                self._emit(failed(cause(fault)))
                return False
        return True

    def _end(self, state: State, answer: str = "") -> None:
        ids = {"session_id": self._live.session.id, "turn_id": self._id}
        note = " ".join(filter(None, (self._changed, self._note if answer else "", self._compacted if answer else "")))
        self._emit(Ended(**ids, answer=answer, reason=state, usage=self._allowance.used, note=note))

    def _log(self, state: str, error: str) -> None:
        used = self._allowance.used
        fields: dict[str, JSON] = {"session": self._live.session.id, "turn": self._id, "state": state}
        fields |= {"provider": self._route.name, "model": self._route.model}
        fields |= {"calls": used.calls, "input": used.input, "output": used.output}
        fields |= {"seconds": round(time.monotonic() - self._began, 3)} | ({"error": error} if error else {})
        log.log(logging.ERROR if error else logging.INFO, "turn", extra={"fields": fields})
