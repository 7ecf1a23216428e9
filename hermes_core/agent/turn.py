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

from hermes_core.agent import usage as usages
from hermes_core.agent.live import Live, LiveSessions
from hermes_core.agent.policy import AskPerson
from hermes_core.agent.reply import Reply
from hermes_core.agent.rewriting import Rewriting
from hermes_core.agent.route import stream_with_retries
from hermes_core.agent.tools import CallRunner
from hermes_core.config.settings import Settings
from hermes_core.errors import HermesError, Refused
from hermes_core.store.killpoints import die_at
from hermes_core.store.validity import valid
from hermes_core.types import (
    JSON,
    Called,
    Delta,
    Ended,
    Envelope,
    Event,
    Failed,
    Message,
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

__all__ = ["TurnRun", "cause", "failed", "text_of"]

log = logging.getLogger(__name__)

_CUT = "The answer was cut: the model reached its output limit. Say `go on`, or raise model.max_tokens."
_OUT_OF_CALLS = "You have used all the steps of this turn. Answer now with what you have, and say what is left to do."
_BEAT = 10.0  # seconds between heartbeats of the session's lease
_EMPTY_TRIES = 2  # a model that answers nothing at all is asked once more


def text_of(message: Message) -> str:
    """The text of a message, without reasoning and calls."""
    return "".join(p.text for p in message.parts if isinstance(p, Text))


class TurnRun:
    """Plays one turn. Ends by itself, by an error, or by being cancelled; an Ended event is always the last."""

    def __init__(
        self,
        sessions: LiveSessions,
        live: Live,
        *,
        ask: AskPerson | None = None,
        emit: Callable[[Event], None],
    ) -> None:
        self._sessions, self._parts, self._live = sessions, sessions.parts, live
        self._ask, self._emit = ask, emit
        self._id = os.urandom(16).hex()
        self._fence = 0
        self._note = self._compacted = ""
        self._used = Usage()
        self._began = time.monotonic()

    @property
    def session(self) -> Session:
        """The session it plays in."""
        return self._live.session

    async def play(
        self, envelope: Envelope, *, original: Envelope, stored: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        """Run a turn to its end; errors become Failed events. Raises HermesError when it cannot begin.

        ``original`` is what came in, before plugins changed it. ``stored`` is called when it has its row.
        """
        parts, session = self._parts, self._live.session
        self._route = await parts.routed()
        history = await (await parts.store()).history(session.id) if self._live.known else []
        self.messages = valid([*history, envelope.message])
        await self._run(self._open(envelope.message, original, stored), self._steps())

    async def resume(self) -> bool:
        """Run the turn that a dead process left open to its end, if there is one. Raises like ``play``."""
        parts, live = self._parts, self._live
        self._route = await parts.routed()
        store = await parts.store()
        taken = await store.resume_turn(live.session.id, holder=self._sessions.holder, left=live.left)
        if taken is None:
            return False
        self._id, self._used, self.messages = taken.turn.id, taken.usage, list(taken.history)
        await self._run(self._opened(store, taken.turn), self._rest(taken.calls))
        return True

    async def _run(
        self, opening: "Coroutine[None, None, tuple[Store, Turn]]", steps: Coroutine[None, None, str]
    ) -> None:
        session, route = self._live.session, self._route
        self._live.session = evolve(session, turn=self._id)
        self._emit(Started(session_id=session.id, turn_id=self._id, provider=route.name, model=route.model))
        self._opening = asyncio.create_task(opening)
        beating = asyncio.create_task(self._beat())
        try:
            answer = await steps
        except asyncio.CancelledError:
            await asyncio.shield(self._close("interrupted"))
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
            beating.cancel()

    async def _open(
        self, message: Message, original: Envelope, stored: Callable[[], Awaitable[None]] | None
    ) -> "tuple[Store, Turn]":
        store, live, route = await self._parts.store(), self._live, self._route
        await self._sessions.keep(live, store)
        turn = await store.open_turn(
            live.session.id,
            message,
            turn_id=self._id,
            holder=self._sessions.holder,
            envelope=original,
            provider=route.name,
            model=route.model,
            left=live.left,
        )
        die_at("journaled")
        opened = await self._opened(store, turn)
        if stored:
            await stored()
        return opened

    async def _opened(self, store: "Store", turn: "Turn") -> "tuple[Store, Turn]":
        self._fence, self._live.left = turn.fence, 0
        return store, turn

    async def _rows(self) -> "tuple[Store, Turn]":
        """The store and this turn's row. A turn that is interrupted still gets its row: what was said is kept."""
        await asyncio.wait([self._opening])
        return self._opening.result()

    async def _beat(self) -> None:
        """Say again and again that this turn's holder lives, so that nobody takes the session over."""
        with contextlib.suppress(Exception):  # whoever lost the session is told so by the next write
            store, turn = await self._rows()
            while True:
                await asyncio.sleep(_BEAT)
                await store.beat(turn)

    async def _rest(self, calls: Mapping[str, str]) -> str:
        """Go on after the last finished step; ``calls`` are those without a result."""
        store, turn = await self._rows()
        last = next(m for m in reversed(self.messages) if m.role != "tool")
        asked = [p for p in last.parts if isinstance(p, ToolCall)]
        if last.role == "assistant" and not asked:  # the answer is there, only the turn was not closed
            answer = text_of(last)
            self._emit(Said(text=answer))
            return answer
        if waiting := [call for call in asked if call.id in calls]:
            await self._call(waiting, started={i for i, state in calls.items() if state == "started"})
            self.messages = await store.history(turn.session_id)
        return await self._steps(1 + self._used.calls)

    async def _steps(self, first: int = 1) -> str:
        for step in range(first, self._parts.settings.config.agent.max_calls + 1):
            message = await self._respond(await self._request(step))
            calls = [p for p in message.parts if isinstance(p, ToolCall)]
            if not calls:
                return text_of(message)
            await self._call(calls)
        return await self._last_word()

    async def _last_word(self) -> str:
        """The steps are used up: one more reply, without tools, says how far it came."""
        most = self._parts.settings.config.agent.max_calls
        request = await self._request(most + 1)
        nudge = Message(role="user", parts=(Text(text=_OUT_OF_CALLS),))
        message = await self._respond(evolve(request, messages=(*request.messages, nudge), tools=()))
        if _has_calls(message):
            raise Refused(f"The turn used all its {most} model calls.", hint="Say `go on`, or raise agent.max_calls.")
        return text_of(message)

    async def _request(self, step: int) -> Request:
        messages = (Message(role="system", parts=(Text(text=self._live.prompt),)), *self.messages)
        options = _options(self._parts.settings)
        request = Request(model=self._route.model, messages=messages, tools=self._live.specs, options=options)
        rewriting = Rewriting(self.messages, sent=len(messages) - (step == 1))
        request = await self._parts.dispatch.transform(
            "pre_llm_call", "request", request, judge=rewriting.judge, session=self._live.session
        )
        if rewriting.by:
            request = await self._compact(request, rewriting)
        die_at("prompted")
        return request

    async def _compact(self, request: Request, rewriting: Rewriting) -> Request:
        """Put a new context in force before it leaves: the same bytes now, after a restart and in later turns."""
        store, turn = await self._rows()
        appended = request.messages[1 + len(rewriting.context) :]
        self._compacted = rewriting.summary(before=len(self.messages))
        self.messages = await store.compact(turn, rewriting.context, rewriting.by)
        die_at("compacted")
        return evolve(request, messages=(request.messages[0], *self.messages, *appended))

    async def _respond(self, request: Request) -> Message:
        """One reply, stored. Raises Refused when the model answers nothing."""
        for _ in range(_EMPTY_TRIES):
            response = await self._stream(request)
            if text_of(response.message).strip() or _has_calls(response.message):
                break
        else:
            filtered = response.reason == "refused"
            text = "The provider filtered the model's answer." if filtered else "The model answered nothing."
            raise Refused(text, hint="Ask again in other words, or choose another model.")
        self._note = _CUT if response.reason == "length" else ""
        store, turn = await self._rows()
        await store.add_reply(turn, response.message, response.usage, response.reason)
        die_at("replied")
        self._used = usages.add(self._used, response.usage)
        self.messages.append(response.message)
        session = self._live.session
        await self._parts.dispatch.observe("post_llm_call", session=session, request=request, response=response)
        return response.message

    async def _stream(self, request: Request) -> Response:
        reply, held = Reply(), list[Delta]()
        async with contextlib.aclosing(stream_with_retries(self._route.provider, request)) as stream:
            async for delta in stream:
                reply.add(delta)
                held.append(delta)
                if self._opening.done():  # nothing is shown that a crash could not find again
                    self._show(held)
                die_at("mid_stream")
        response = reply.finish()
        await self._rows()
        self._show(held)
        return response

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
        store, turn = await self._rows()
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
            emit=self._emit,
            ask_person=self._ask,
            ran=live.ran,
            asking=live.asking,
            started=started,
        )
        self.messages.extend(await runner.run(calls))

    async def _close(self, state: Literal["done", "failed", "interrupted"], answer: str = "", error: str = "") -> None:
        self._log(state, error)
        try:
            store, turn = await self._rows()
            await store.close_turn(turn, state=state, error=error)
        except Exception as fault:  # noqa: BLE001 - the store fails, or never opened
            self._live.left = self._fence or self._live.left
            if state != "failed":
                self._emit(failed(cause(fault)))
                state, answer = "failed", ""
        ids = {"session_id": self._live.session.id, "turn_id": self._id}
        note = "\n".join(filter(None, (self._note, self._compacted))) if answer else ""
        self._emit(Ended(**ids, answer=answer, reason=state, usage=self._used, note=note))

    def _log(self, state: str, error: str) -> None:
        used = self._used
        fields: dict[str, JSON] = {"session": self._live.session.id, "turn": self._id, "state": state}
        fields |= {"provider": self._route.name, "model": self._route.model}
        fields |= {"calls": used.calls, "input": used.input, "output": used.output}
        fields |= {"seconds": round(time.monotonic() - self._began, 3)} | ({"error": error} if error else {})
        log.log(logging.ERROR if error else logging.INFO, "turn", extra={"fields": fields})


def failed(error: HermesError) -> Failed:
    """An error as an event; its kind is the error's name in snake case."""
    kind = "".join(f"_{c.lower()}" if c.isupper() else c for c in type(error).__name__).lstrip("_")
    return Failed(kind=kind, text=error.text, hint=error.hint)


def _has_calls(message: Message) -> bool:
    return any(isinstance(p, ToolCall) for p in message.parts)


def cause(error: BaseException) -> HermesError:
    """What to tell a person of an error nobody foresaw."""
    while isinstance(error, BaseExceptionGroup):
        error = next((e for e in error.exceptions if isinstance(e, HermesError)), error.exceptions[0])
    if isinstance(error, HermesError):
        return error
    return HermesError(f"{type(error).__name__}: {error}", hint="See `hermes logs`; `hermes doctor` may know why.")


def _options(settings: Settings) -> dict[str, JSON]:
    model = settings.config.model
    options: dict[str, JSON] = {}
    if model.max_tokens:
        options["max_tokens"] = model.max_tokens
    if model.temperature is not None:
        options["temperature"] = model.temperature
    if model.effort:
        options["effort"] = model.effort
    return options
