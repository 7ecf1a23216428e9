"""A turn that may call its client's own tools: it hands the calls out, and waits for their results."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from functools import partial
from typing import Any

from attrs import evolve

from hermes_core.kinds import Tool, ToolContext
from hermes_core.types import Blob, Called, Ended, Question, Returned, Text, ToolCall, Usage, Used
from hermes_platform_api.client_tools import ClientResult, ClientTool, ClientTools, call_id
from hermes_platform_api.errors import ApiError
from hermes_platform_api.kept import Handed, Kept, Told

__all__ = ["HeldTurn"]

_SETTLE = 0.2  # seconds in which more calls of the same reply may come to wait
_DAY = 86_400.0  # seconds: how long it may take is for ``seconds`` to say, not for the tools


class HeldTurn(Kept):
    """Events, and calls that wait. ``handed`` are those its client has now: their ids there and here.

    ``paused`` is called when the turn begins to wait; nobody who runs no tool for ``seconds`` is waited for. With
    ``answers`` it is a turn that a death cut while it waited: calls that are made again find them.
    """

    def __init__(
        self,
        person: str,
        event: str,
        given: ClientTools,
        *,
        seconds: float,
        paused: Callable[[], None],
        answers: Mapping[str, ClientResult] | None = None,
    ) -> None:
        super().__init__(person)
        self.handed: dict[str, str] = {}
        self._event, self._given, self._seconds, self._paused = event, given, seconds, paused
        self._answers = dict(answers or {})
        self._known = {one.offered: one for one in given.tools}
        self.tools = [self._tool(one, again=answers is not None) for one in given.tools]
        self._open: dict[str, None] = {}  # calls of the client's tools that have no result, in the model's order
        self._waits: dict[str, tuple[ToolCall, asyncio.Future[ClientResult]]] = {}
        self._starts: dict[str, int] = {event: 0}
        self._used = self._booked = Usage()
        self._timer: asyncio.TimerHandle | None = None
        self.ending = False  # it is being stopped: what comes now comes too late

    def add(self, event: Told) -> None:
        """Keep an event. What the model used is counted from where the client had the word last."""
        if isinstance(event, Used):
            self._used = event.usage
        elif isinstance(event, Called) and event.call.name in self._known:
            self._open[event.call.id] = None
        elif isinstance(event, Returned):
            self._open.pop(event.call.id, None)
        elif isinstance(event, Ended):
            event = evolve(event, usage=_less(event.usage, self._booked))
            self._stop_timer()
        super().add(event)
        if isinstance(event, Called):
            self._settle()

    def start(self, event: str) -> int | None:
        """Return where the answer to a request begins; None for a request that this turn does not know."""
        return self._starts.get(event)

    async def segment(self, at: int) -> AsyncGenerator[Told, None]:
        """Read its events from one to where the client has the word again. Raises ApiError."""
        async with aclosing(self.read(at)) as events:
            async for event in events:
                if isinstance(event, Question):
                    continue
                yield event
                if isinstance(event, Handed):
                    return

    def check(self, results: Mapping[str, ClientResult]) -> None:
        """Raises ApiError unless there is a result for each call that was handed out."""
        if missing := [name for name in self.handed if name not in results]:
            text = f"There is no result for the call {missing[0]}. Send one for each call that you were given."
            raise ApiError(400, "tool_result_missing", text)

    def answer(self, results: Mapping[str, ClientResult], event: str) -> int:
        """Go on with the results of what was handed out; where the answer to that begins."""
        self._stop_timer()
        at = self._starts[event] = len(self.events)
        handed, self.handed = self.handed, {}
        for name, inner in handed.items():
            _, result = self._waits.pop(inner, (None, None))
            if result and not result.done():  # else the turn is being stopped
                result.set_result(results[name])
                self._open.pop(inner, None)
        self._settle()
        return at

    async def left(self) -> None:
        """Stop: the client went away before it got an answer."""
        if not self.handed:
            await self.stop()

    def _tool(self, one: ClientTool, *, again: bool) -> Tool:
        return Tool(
            name=one.offered,
            description=one.description,
            schema=one.schema,
            toolset="client",
            run=partial(self._run, one),
            touches=lambda _: (),
            untrusted=True,
            idempotent=again,  # to wait once more does nothing twice; but two calls that are the same are two calls
            seconds=_DAY,
        )

    async def _run(self, tool: ClientTool, context: ToolContext, given: Any) -> list[Text | Blob]:
        """Wait for the result of a call."""
        name = call_id(self._given.prefix, self._event, context.call_id)
        if (result := self._answers.pop(name, None)) is None:
            waiting: asyncio.Future[ClientResult] = asyncio.get_running_loop().create_future()
            self._waits[context.call_id] = ToolCall(id=name, name=tool.name, arguments=given), waiting
            self._settle()
            try:
                result = await waiting
            finally:
                self._waits.pop(context.call_id, None)
        failed = [Text(text="The tool failed at the client:")] if result.failed else []
        return [*failed, *result.parts]

    def _settle(self) -> None:
        """Hand out what waits, all calls of a reply together where they come soon."""
        if self.handed:
            return
        self._stop_timer()
        ready = self._ready()
        if ready and len(ready) == len(self._open):
            self._hand_out()
        elif ready:
            self._timer = asyncio.get_running_loop().call_later(_SETTLE, self._hand_out)

    def _ready(self) -> list[str]:
        return [name for name in self._open if name in self._waits]

    def _hand_out(self) -> None:
        ready = self._ready() if self._given.parallel else self._ready()[:1]
        calls = [self._waits[name][0] for name in ready]
        if not calls:
            return
        self.handed = {call.id: name for call, name in zip(calls, ready, strict=True)}
        usage, self._booked = _less(self._used, self._booked), self._used
        self._stop_timer()
        self._timer = asyncio.get_running_loop().call_later(self._seconds, self._expire)
        self._paused()
        super().add(Handed(session_id=self.session, calls=calls, usage=usage))

    def _expire(self) -> None:
        self.ending = True
        if self.task:
            self.task.cancel()

    async def stop(self) -> None:
        """Interrupt it; its Ended still comes."""
        self.ending = True
        await super().stop()

    def _stop_timer(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None


def _less(usage: Usage, before: Usage) -> Usage:
    """What was used since."""
    counted = ("input", "output", "cache_read", "cache_write", "reasoning", "calls")
    return evolve(usage, **{name: max(0, getattr(usage, name) - getattr(before, name)) for name in counted})
