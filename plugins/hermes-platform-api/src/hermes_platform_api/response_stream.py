"""A response as it comes: the events of the Responses API, in their order."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any

from hermes_core.types import Started, ToolCall
from hermes_platform_api.errors import ApiError
from hermes_platform_api.kept import Events
from hermes_platform_api.progress import progress
from hermes_platform_api.response_shape import ResponseShape, call_item, message_item, text_part
from hermes_platform_api.service import TurnSummary
from hermes_platform_api.sse import event

__all__ = ["PROGRESS", "ResponseStream"]

PROGRESS = "hermes.tool.progress"


class ResponseStream:
    """One response in events. ``keep`` is told the whole of it before its end is sent.

    What our own tools do is told only where ``progress`` is wanted: the protocol has no such events.
    """

    def __init__(
        self,
        turn: Events,
        shape: ResponseShape,
        keep: Callable[[dict[str, Any], TurnSummary], Awaitable[None]],
        *,
        progress: bool = False,
    ) -> None:
        self._turn, self._shape, self._keep, self._answer = turn, shape, keep, TurnSummary()
        self._progress = progress
        self._session, self._number = "", -1
        self._in = {"item_id": message_item(shape.name, "", "in_progress")["id"], "output_index": 0, "content_index": 0}

    def headers(self) -> dict[str, str]:
        """What is known when the stream begins."""
        return {"x-hermes-session-id": self._session} if self._session else {}

    async def body(self) -> AsyncGenerator[bytes, None]:
        """The events. Raises ApiError."""
        answer, begun = self._answer, False
        async with aclosing(self._turn) as turn:
            async for one in turn:
                if isinstance(one, Started):
                    self._session = one.session_id
                    now = self._shape.whole("in_progress")
                    yield self._event("response.created", response=now)
                    yield self._event("response.in_progress", response=now)
                elif text := answer.add(one):
                    if not begun:
                        begun = True
                        yield self._opening()
                    yield self._event("response.output_text.delta", **self._in, delta=text, logprobs=[])
                elif self._progress and (told := progress(one)):
                    yield self._event(PROGRESS, **told)
        answer.check()
        text = answer.shown or answer.text
        if text and not begun:
            yield self._opening() + self._event("response.output_text.delta", **self._in, delta=text, logprobs=[])
        status = "completed" if answer.reason in ("done", "handed") else "incomplete"
        whole = self._shape.whole(status, text, answer)
        if text:
            yield self._closing(whole["output"][0], text)
        for index, call in enumerate(answer.calls, start=1 if text else 0):
            yield self._call(call, index)
        await self._keep(whole, answer)
        yield self._event(f"response.{status}", response=whole) + event("[DONE]")

    def failed(self, error: ApiError) -> bytes:
        """The last event of a response that failed."""
        whole = self._shape.whole("failed", self._answer.shown, self._answer)
        whole["error"] = {"code": error.code, "message": error.message}
        return self._event("response.failed", response=whole) + event("[DONE]")

    def _opening(self) -> bytes:
        item = message_item(self._shape.name, "", "in_progress")
        added = self._event("response.output_item.added", output_index=0, item=item)
        return added + self._event("response.content_part.added", **self._in, part=text_part(""))

    def _closing(self, item: dict[str, Any], text: str) -> bytes:
        done = self._event("response.output_text.done", **self._in, text=text, logprobs=[])
        done += self._event("response.content_part.done", **self._in, part=text_part(text))
        return done + self._event("response.output_item.done", output_index=0, item=item)

    def _call(self, call: ToolCall, index: int) -> bytes:
        item = call_item(call, status="completed")
        at = {"item_id": item["id"], "output_index": index}
        begun = call_item(call, status="in_progress")
        told = self._event("response.output_item.added", output_index=index, item=begun)
        told += self._event("response.function_call_arguments.delta", **at, delta=item["arguments"])
        told += self._event("response.function_call_arguments.done", **at, name=call.name, arguments=item["arguments"])
        return told + self._event("response.output_item.done", output_index=index, item=item)

    def _event(self, kind: str, /, **fields: Any) -> bytes:
        self._number += 1
        return event({"type": kind, "sequence_number": self._number, **fields}, kind)
