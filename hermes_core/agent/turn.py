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
from collections.abc import Awaitable, Callable, Sequence

from attrs import evolve, frozen

from hermes_core.agent import usage as usages
from hermes_core.agent.reply import Reply
from hermes_core.agent.route import Route, stream_with_retries
from hermes_core.agent.tools import CallRunner, names_that_ran
from hermes_core.config.schema import AgentSettings
from hermes_core.errors import HermesError, NotPermitted, Refused
from hermes_core.plugins.dispatch import Dispatch
from hermes_core.plugins.index import Installed
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
    ToolSpec,
    Usage,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.store.journal import Store, Turn

__all__ = ["Scene", "TurnRun", "cause", "failed", "new_turn_id", "text_of"]

log = logging.getLogger(__name__)

_OUT_OF_CALLS = "You have used all the steps of this turn. Answer now with what you have, and say what is left to do."
_BEAT = 10.0  # seconds between heartbeats of the session's lease
_EMPTY_TRIES = 2  # a model that answers nothing at all is asked once more


@frozen(kw_only=True, eq=False)
class Scene:
    """What a turn plays in: its session, who answers, with which tools, and who watches."""

    session: Session
    envelope: Envelope
    prompt: str
    specs: Sequence[ToolSpec]
    history: Sequence[Message]
    route: Route
    options: dict[str, JSON]
    settings: AgentSettings
    dispatch: Dispatch
    store: "Callable[[], Awaitable[Store]]"
    open_rows: "Callable[[Store, str], Awaitable[Turn]]"  # session, prompt and turn rows in their transactions
    runner: "Callable[[Store, Turn], Awaitable[CallRunner]]"
    emit: Callable[[Event], None]
    stored: Callable[[], Awaitable[None]] | None = None  # called when the message has its row: it may be acknowledged


def new_turn_id() -> str:
    """A fresh turn id."""
    return os.urandom(16).hex()


def text_of(message: Message) -> str:
    """The text of a message, without reasoning and calls."""
    return "".join(p.text for p in message.parts if isinstance(p, Text))


class TurnRun:
    """Plays one turn. Ends by itself, by an error, or by being cancelled; an Ended event is always the last."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._id = new_turn_id()
        self._messages = [*scene.history, scene.envelope.message]
        self._used = Usage()
        self._began = time.monotonic()
        self._answer = ""
        self._store: Store | None = None
        self._turn: Turn | None = None

    async def play(self) -> None:
        """Run the turn to its end; errors become Failed events."""
        scene = self._scene
        scene.emit(
            Started(session_id=scene.session.id, turn_id=self._id, provider=scene.route.name, model=scene.route.model)
        )
        beating = asyncio.create_task(self._beat())
        try:
            await self._steps()
        except asyncio.CancelledError:
            await asyncio.shield(self._close("interrupted"))
        except HermesError as error:
            await self._fail(error)
        except Exception as error:  # whatever a plugin raises ends this turn, not the program
            log.exception("a turn broke")
            await self._fail(cause(error))
        else:
            await self._close("done")
        finally:
            beating.cancel()

    async def _beat(self) -> None:
        """Say again and again that this turn's holder lives, so that nobody takes the session over."""
        while True:
            await asyncio.sleep(_BEAT)
            if self._store is not None and self._turn is not None:
                await self._store.beat(self._turn)

    async def _steps(self) -> None:
        opening: asyncio.Task[None] | None = asyncio.create_task(self._open())
        try:
            for step in range(1, self._scene.settings.max_calls + 1):
                request = await self._request(step)
                response = await self._respond(request, opening)
                opening = None
                calls = [p for p in response.message.parts if isinstance(p, ToolCall)]
                if not calls:
                    self._answer = text_of(response.message)
                    return
                await self._call(calls)
            await self._last_word()
        finally:
            if opening is not None:  # what the person said is kept, whatever became of the answer
                await asyncio.wait([opening])

    async def _open(self) -> None:
        self._store = await self._scene.store()
        self._turn = await self._scene.open_rows(self._store, self._id)
        if self._scene.stored:
            await self._scene.stored()

    async def _request(self, step: int) -> Request:
        scene = self._scene
        system = Message(role="system", parts=(Text(text=scene.prompt),))
        request = Request(
            model=scene.route.model, messages=(system, *self._messages), tools=scene.specs, options=scene.options
        )
        kept = len(request.messages) if step > 1 else 1

        def judge(plugin: Installed, before: Request, after: Request) -> Request:
            same = after.messages[:kept] == before.messages[:kept] and after.tools == before.tools
            if not same and "history.rewrite" not in (plugin.manifest.kernel if plugin.manifest else ()):
                raise NotPermitted(
                    plugin.label,
                    "changed what a model was told before",
                    hint='Only append, or declare "history.rewrite" in [permissions] kernel.',
                )
            return after

        return await scene.dispatch.transform_each("pre_llm_call", "request", request, judge, session=scene.session)

    async def _respond(self, request: Request, opening: "asyncio.Task[None] | None") -> Response:
        for attempt in range(1, _EMPTY_TRIES + 1):
            response = await self._stream(request, opening)
            if opening is not None:
                await opening
                opening = None
            if response.message.parts and (text_of(response.message).strip() or _has_calls(response.message)):
                break
            if attempt == _EMPTY_TRIES:
                raise Refused("The model answered nothing.", hint="Ask again in other words, or choose another model.")
        store, turn = self._rows()
        await store.add_reply(turn, response.message, response.usage, response.reason)
        self._used = usages.add(self._used, response.usage)
        self._messages.append(response.message)
        await self._scene.dispatch.observe(
            "post_llm_call", session=self._scene.session, request=request, response=response
        )
        return response

    async def _stream(self, request: Request, opening: "asyncio.Task[None] | None") -> Response:
        reply, held = Reply(), list[Delta]()
        async with contextlib.aclosing(stream_with_retries(self._scene.route.provider, request)) as stream:
            async for delta in stream:
                reply.add(delta)
                if opening is not None and not opening.done():
                    held.append(delta)  # nothing is shown that a crash could not find again
                    continue
                for waiting in held:
                    self._show(waiting)
                held.clear()
                self._show(delta)
        response = reply.finish()
        if opening is not None:
            await opening
        for waiting in held:
            self._show(waiting)
        return response

    def _show(self, delta: Delta) -> None:
        if isinstance(delta, TextDelta) and delta.text:
            self._scene.emit(Said(text=delta.text))
        elif isinstance(delta, ReasoningDelta) and delta.text:
            self._scene.emit(Thinking(text=delta.text))

    async def _call(self, calls: Sequence[ToolCall]) -> None:
        for call in calls:
            self._scene.emit(Called(call=call))
        store, turn = self._rows()
        runner = await self._scene.runner(store, turn)
        if not runner.ran:
            runner.ran.update(names_that_ran(self._messages))
        self._messages.extend(await runner.run(calls))

    async def _last_word(self) -> None:
        """The steps are used up: one more reply, without tools, says how far it came."""
        request = await self._request(self._scene.settings.max_calls + 1)
        nudge = Message(role="user", parts=(Text(text=_OUT_OF_CALLS),))
        response = await self._respond(evolve(request, messages=(*request.messages, nudge), tools=()), None)
        if _has_calls(response.message):
            raise Refused(
                f"The turn used all its {self._scene.settings.max_calls} model calls.",
                hint="Say `go on`, or raise agent.max_calls.",
            )
        self._answer = text_of(response.message)

    def _rows(self) -> "tuple[Store, Turn]":
        if self._store is None or self._turn is None:
            raise RuntimeError("a reply was acted on before its turn had a row")
        return self._store, self._turn

    async def _fail(self, error: HermesError) -> None:
        self._scene.emit(failed(error))
        await self._close("failed", error.text)

    async def _close(self, state: str, error: str = "") -> None:
        self._log(state, error)
        if self._store is not None and self._turn is not None:
            try:
                await self._store.close_turn(self._turn, state=state, error=error)
            except HermesError as fault:
                self._scene.emit(failed(fault))
                state = "failed"
        self._scene.emit(
            Ended(
                session_id=self._scene.session.id,
                turn_id=self._id,
                answer=self._answer if state == "done" else "",
                reason=state,  # type: ignore[arg-type]
                usage=self._used,
            )
        )

    def _log(self, state: str, error: str) -> None:
        scene = self._scene
        fields = {
            "session": scene.session.id,
            "turn": self._id,
            "state": state,
            "provider": scene.route.name,
            "model": scene.route.model,
            "calls": self._used.calls,
            "input": self._used.input,
            "output": self._used.output,
            "seconds": round(time.monotonic() - self._began, 3),
        }
        log.log(
            logging.ERROR if error else logging.INFO,
            "turn",
            extra={"fields": fields | ({"error": error} if error else {})},
        )


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
    return HermesError(
        f"{type(error).__name__}: {error}", hint="`hermes logs` shows where; `hermes doctor` may know why."
    )
