"""A response as it comes: the events of the Responses API, in their order."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any

from attrs import define

from hermes_core.types import Started, Thinking, ToolCall
from hermes_platform_api.errors import ApiError
from hermes_platform_api.kept import Events
from hermes_platform_api.progress import progress
from hermes_platform_api.response_shape import (
    ResponseShape,
    call_item,
    message_item,
    text_part,
    thought_item,
    thought_part,
)
from hermes_platform_api.service import TurnSummary
from hermes_platform_api.sse import event

__all__ = ["PROGRESS", "ResponseStream"]

PROGRESS = "hermes.tool.progress"


@define
class _Open:
    """The item that is told: a thought, or a text; the so many-th of these, after so many thoughts."""

    thought: bool
    number: int
    after: int
    text: str = ""


class ResponseStream:
    """One response in events. ``keep`` is told the whole of it before its end is sent.

    What our own tools do is told only where ``progress`` is wanted: the protocol has no such events. Thoughts have the
    events that Open Responses names for them.
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
        self._output: list[dict[str, Any]] = []
        self._open: _Open | None = None

    def headers(self) -> dict[str, str]:
        """What is known when the stream begins."""
        return {"x-hermes-session-id": self._session} if self._session else {}

    async def body(self) -> AsyncGenerator[bytes, None]:
        """The events. Raises ApiError."""
        answer = self._answer
        async with aclosing(self._turn) as turn:
            async for one in turn:
                if isinstance(one, Started):
                    self._session = one.session_id
                    now = self._shape.begun()
                    yield self._event("response.created", response=now)
                    yield self._event("response.in_progress", response=now)
                elif text := answer.add(one):
                    thought = isinstance(one, Thinking)
                    yield self._told(one.text if isinstance(one, Thinking) else text, thought=thought)
                elif self._progress and (told := progress(one)):
                    yield self._event(PROGRESS, **told)
        answer.check()
        if answer.text and not answer.shown:
            yield self._told(answer.text, thought=False)
        status = "completed" if answer.reason in ("done", "handed") else "incomplete"
        yield self._closing(status)
        for call in answer.calls:
            yield self._call(call)
        whole = self._shape.whole(status, answer, self._output)
        await self._keep(whole, answer)
        yield self._event(f"response.{status}", response=whole) + event("[DONE]")

    def failed(self, error: ApiError) -> bytes:
        """The last event of a response that failed."""
        left = [self._item(self._open, "incomplete")] if self._open else []
        whole = self._shape.whole("failed", self._answer, [*self._output, *left])
        whole["error"] = {"code": error.code, "message": error.message}
        return self._event("response.failed", response=whole) + event("[DONE]")

    def _told(self, text: str, *, thought: bool) -> bytes:
        """A piece of the item that is open, or of a new one."""
        told, after = b"", len(self._answer.thoughts)
        if self._open is None or (self._open.thought, self._open.after) != (thought, after):
            told = self._closing("completed")
            kind = "reasoning" if thought else "message"
            number = sum(item["type"] == kind for item in self._output)
            self._open = _Open(thought, number, after)
            told += self._opening(self._open)
        self._open.text += text
        names = self._names(self._open)
        more: dict[str, Any] = {} if thought else {"logprobs": []}
        return told + self._event(f"{names[0]}.delta", **self._at(self._open), delta=text, **more)

    def _names(self, one: _Open) -> tuple[str, str]:
        """What the events of an item's text, and those of the part around it, begin with."""
        if one.thought and self._shape.summary:
            return "response.reasoning_summary_text", "response.reasoning_summary_part"
        return ("response.reasoning" if one.thought else "response.output_text"), "response.content_part"

    def _at(self, one: _Open) -> dict[str, Any]:
        """Where the text of an item stands."""
        item = self._item(one, "in_progress")["id"]
        part = "summary_index" if one.thought and self._shape.summary else "content_index"
        return {"item_id": item, "output_index": len(self._output), part: 0}

    def _item(self, one: _Open, status: str) -> dict[str, Any]:
        if one.thought:
            text = "" if status == "in_progress" else one.text
            return thought_item(self._shape.name, text, one.number, self._shape.summary)
        return message_item(self._shape.name, one.text, status, one.number)

    def _part(self, one: _Open, text: str) -> dict[str, Any]:
        return thought_part(text, self._shape.summary) if one.thought else text_part(text)

    def _opening(self, one: _Open) -> bytes:
        item = self._item(one, "in_progress")
        added = self._event("response.output_item.added", output_index=len(self._output), item=item)
        return added + self._event(f"{self._names(one)[1]}.added", **self._at(one), part=self._part(one, ""))

    def _closing(self, status: str) -> bytes:
        """The end of the item that is open."""
        one, self._open = self._open, None
        if one is None:
            return b""
        (text, part), at = self._names(one), self._at(one)
        more: dict[str, Any] = {} if one.thought else {"logprobs": []}
        item = self._item(one, status)
        done = self._event(f"{text}.done", **at, text=one.text, **more)
        done += self._event(f"{part}.done", **at, part=self._part(one, one.text))
        done += self._event("response.output_item.done", output_index=len(self._output), item=item)
        self._output.append(item)
        return done

    def _call(self, call: ToolCall) -> bytes:
        item, index = call_item(call, status="completed"), len(self._output)
        self._output.append(item)
        at = {"item_id": item["id"], "output_index": index}
        begun = call_item(call, status="in_progress")
        told = self._event("response.output_item.added", output_index=index, item=begun)
        told += self._event("response.function_call_arguments.delta", **at, delta=item["arguments"])
        told += self._event("response.function_call_arguments.done", **at, name=call.name, arguments=item["arguments"])
        return told + self._event("response.output_item.done", output_index=index, item=item)

    def _event(self, kind: str, /, **fields: Any) -> bytes:
        self._number += 1
        return event({"type": kind, "sequence_number": self._number, **fields}, kind)
