"""What passes between one turn and its model: requests put together, replies taken whole, stored and shown."""

import asyncio
import contextlib
from collections.abc import Callable, Sequence

from attrs import evolve

from hermes_core.agent import indirect
from hermes_core.agent.meter import Meter
from hermes_core.agent.reply_assembler import ReplyAssembler, nudged, shaped
from hermes_core.agent.rewriting import Rewriting
from hermes_core.agent.route.call import StreamedCall
from hermes_core.agent.rows import TurnRows
from hermes_core.agent.runtime import Runtime
from hermes_core.agent.session_state import SessionState
from hermes_core.codec import clean, plain_text
from hermes_core.errors import ContextTooLong, HermesError
from hermes_core.kinds import ModelRoute
from hermes_core.kinds.console import Returns
from hermes_core.store.killpoints import die_at
from hermes_core.store.outside import by_plugin, outside
from hermes_core.types import (
    Delta,
    Event,
    Message,
    Noticed,
    ReasoningDelta,
    Request,
    Response,
    Said,
    Text,
    TextDelta,
    Thinking,
    ToolCall,
    Usage,
    Used,
)

__all__ = ["Exchange"]

_CUT = "The answer was cut: the model reached its output limit. Say `go on`, or raise model.max_tokens."
_ANEW = "Hermes was ended while this was being answered. Give the whole answer anew."
_SHRINKS = 3  # times a request that did not fit is built again
_OUT_OF_CALLS = "You have used all the steps of this turn. Answer now with what you have, and say what is left to do."


class Exchange:
    """The model's side of a turn. ``messages`` is the history so far, ``specs`` the tools it is told of.

    ``route`` is asked first, ``cut`` says that the last reply reached a limit, ``returns`` what an answer has to be.
    ``note`` is what a person should know of the last answer, ``compacted`` of the context; ``over`` ends it at once.
    """

    route: ModelRoute

    def __init__(
        self, runtime: Runtime, state: SessionState, rows: TurnRows, meter: Meter, emit: Callable[[Event], None]
    ) -> None:
        self._runtime, self._state, self._rows, self._meter, self._emit = runtime, state, rows, meter, emit
        self.specs = state.specs
        self.messages: list[Message] = []
        self._system = Message(role="system", parts=())
        self.note = self.compacted = self._fell_back = self._shown = ""
        self.over = self.cut = False
        self.returns: Returns | None = None
        self._calls: list[StreamedCall] = []  # those that are not booked yet
        self._last_call = Usage()
        self._fits = 0  # tokens, once the model refused more

    async def reply(self, *, last: bool = False) -> Message:
        """Get one reply, stored; the ``last`` without tools. What does not fit is built again for a smaller window."""

        async def build() -> Request:
            request = await self._request()
            request = shaped(request, self.returns) if self.returns else request
            return nudged(evolve(request, tools=()), _OUT_OF_CALLS) if last else request

        request = await build()
        for _ in range(_SHRINKS):
            try:
                return await self._respond(request)
            except ContextTooLong as error:
                before, self._fits = request, error.window or self._fits
                request = await build() if error.window else request
                if request.messages == before.messages:  # nothing made it smaller
                    raise
        return await self._respond(request)

    async def _request(self) -> Request:
        said = self._said()
        if plain_text(self._system.parts) != self._state.prompt:  # one value as long as it stays: senders look for it
            self._system = Message(role="system", parts=(Text(text=self._state.prompt),))
        messages = (self._system, *said)
        options = self._runtime.routes.options()
        fits = self._fits or self._runtime.models.window(self.route)
        request = Request(model=self.route.model, messages=messages, tools=self.specs, options=options, context=fits)
        rewriting = Rewriting(said)
        request = await self._runtime.dispatch.transform(
            "pre_llm_call", "request", request, judge=rewriting.judge, session=self._state.session
        )
        if len(request.messages) > 1 + len(said) or rewriting.by:
            await self._keep(rewriting, request.messages[1 + len(rewriting.context) :])
            request = evolve(request, messages=(messages[0], *self._said()))
        die_at("prompted")
        return request

    async def _keep(self, rewriting: Rewriting, added: Sequence[Message]) -> None:
        """Put in force what plugins changed, before it leaves: the same bytes now, after a restart and in later turns.

        A request that is built again, as it did not fit or its process died, has what was ``added`` the first time.
        """
        store, turn = await self._rows.get()
        if rewriting.by:
            await self._compact(rewriting)
        if added and not by_plugin(self.messages[-1], "added"):
            await store.journal.add_words(turn, added)
            self.messages.extend(added)

    async def _compact(self, rewriting: Rewriting) -> None:
        store, turn = await self._rows.get()
        self.compacted = rewriting.summary(before=len(self.messages))
        context = [indirect.unwrapped(message) for message in rewriting.context]
        await self._runtime.memory.compacting(self._state.session, self.messages)
        self.messages = await store.history.compact(turn, context, rewriting.by)
        die_at("compacted")

    def _said(self) -> Sequence[Message]:
        """Return the history as the model knows it."""
        redirects = self._runtime.dispatch.implementations("redirect_tool_call")
        through = redirects or any(spec.name == indirect.CALL for spec in self.specs)
        return indirect.wrapped(self.messages) if through else self.messages

    async def _redirected(self, message: Message) -> Message:
        """Return a reply whose calls are of the tools that plugins have them answered by; those are judged as ever."""
        dispatch, session = self._runtime.dispatch, self._state.session
        if not dispatch.implementations("redirect_tool_call"):
            return message
        calls = [part for part in message.parts if isinstance(part, ToolCall) and not part.invalid]
        to = {c.id: await dispatch.transform("redirect_tool_call", "call", c, session=session) for c in calls}
        parts = [indirect.through(p, to.get(p.id, p)) if isinstance(p, ToolCall) else p for p in message.parts]
        return message if parts == [*message.parts] else evolve(message, parts=tuple(parts))

    async def _respond(self, request: Request) -> Message:
        """Get one reply, stored. Raises BudgetReached, and Refused when the model answers nothing."""
        try:
            response = await self._whole(request)
        except Exception:
            await self._spend()
            raise
        unbooked = self._meter.unbooked
        self.cut = response.reason == "length"
        self.note = " ".join(filter(None, (_CUT if self.cut else "", self._fell_back)))
        said = await self._redirected(indirect.unwrapped(response.message))
        response = evolve(response, message=evolve(said, untrusted=outside(self.messages)), usage=unbooked)
        store, turn = await self._rows.get()
        request, seconds = self._calls[-1].request, sum(call.seconds for call in self._calls)
        await store.journal.add_reply(turn, response.message, unbooked, response.reason, calls=self._booked())
        self._meter.book()
        self._shown = ""
        die_at("replied")
        self.messages.append(response.message)
        last = self._last_call  # what the last call read and wrote is what the conversation takes now
        fits = self._fits or self._runtime.models.window(self.route)
        self._emit(Used(usage=self._meter.used, context=last.input + last.output, window=fits))
        what = {"request": request, "response": response, "seconds": seconds}
        await self._runtime.dispatch.observe("post_llm_call", session=self._state.session, **what)
        return response.message

    async def _whole(self, request: Request) -> Response:
        """Get the model's reply, asked for again where it is none yet."""
        whole = ReplyAssembler(request, self.returns)
        while whole.response is None:
            try:
                async with asyncio.timeout(self._meter.seconds) as clock:
                    call = await self._stream(whole.request)
            except TimeoutError:
                if clock.expired():
                    await self._meter.check()
                raise
            self._calls.append(call)
            self._last_call = call.response.usage
            self._fell_back = call.note or self._fell_back
            self._meter.add(call.response.usage)
            whole.add(call.response)
            if whole.response is None:
                if self._shown and not whole.said:
                    self._shown = ""
                    self._emit(Noticed(text="The answer had another shape than was asked for, and begins again."))
                await self._meter.check()
        return whole.response

    async def _spend(self) -> None:
        """Book calls that led to nothing; a store that fails is told of by what comes next."""
        if self._meter.unbooked.calls:
            with contextlib.suppress(HermesError):
                store, turn = await self._rows.get()
                await store.journal.spend(turn, self._meter.unbooked, calls=self._booked())
                self._meter.book()

    def _booked(self) -> list[tuple[str, str, Usage, float]]:
        """Say who answered the calls that are booked now, what each used, and its seconds."""
        calls, self._calls = self._calls, []
        return [(call.route.name, call.request.model, call.response.usage, call.seconds) for call in calls]

    async def _stream(self, request: Request) -> StreamedCall:
        if self.over:  # a plugin swallowed the end of its turn; nothing is asked in its name
            raise asyncio.CancelledError
        held = list[Delta]()

        def tell(text: str) -> None:
            held.clear()  # what was held back is no part of the answer any more
            self._shown = ""
            self._emit(Noticed(text=text))

        call = self._runtime.calls.call(self.route, request, tell=tell)
        async with contextlib.aclosing(call.stream()) as stream:
            async for delta in stream:
                held.append(delta)
                if self._rows.there:  # nothing is shown that a crash could not find again
                    await self._show(held, request)
                die_at("mid_stream")
        await self._rows.get()
        await self._show(held, request)
        return call

    async def keep_shown(self, *, left: bool = False) -> None:
        """Store what was shown of a reply that is cut off, so that it can be read again. Raises StoreError.

        Where the turn is ``left`` to whoever finishes it, its model is told to answer anew.
        """
        if self._shown:
            store, turn = await self._rows.get()
            text = Text(text=clean(f"{self._shown} … (This answer was cut off.)"))
            said = Message(role="assistant", parts=(text,), untrusted=outside(self.messages))
            anew = Message(role="user", parts=(Text(text=_ANEW),), meta={"hermes": {"added": "hermes"}})
            await store.journal.add_words(turn, [said, anew] if left else [said])

    async def _show(self, held: list[Delta], request: Request) -> None:
        before = len(self._shown)
        for delta in held:
            if isinstance(delta, TextDelta) and delta.text:
                self._shown += delta.text
                self._emit(Said(text=delta.text))
            elif isinstance(delta, ReasoningDelta) and delta.text:
                self._emit(Thinking(text=delta.text))
        held.clear()
        if len(self._shown) > before:
            heard = {"session": self._state.session, "request": request, "text": self._shown}
            await self._runtime.dispatch.observe("on_words", **heard)
