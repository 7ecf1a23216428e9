"""POST /v1/chat/completions."""

import json
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from hermes_core.types import Started, Thinking, ToolCall
from hermes_platform_api.errors import ApiError
from hermes_platform_api.progress import progress
from hermes_platform_api.reading import read_chat
from hermes_platform_api.service import Service, TurnSummary, read_body, tokens
from hermes_platform_api.sse import EventStream, event, json_answer, unless_gone
from hermes_platform_api.tool_params import chat_tools
from hermes_platform_api.turn_request import TurnRequest, turn_request

__all__ = ["complete"]

_THOUGHT = "reasoning_content"  # no word of OpenAI's own, but what most services and clients say


async def complete(service: Service, request: Request) -> Response:
    """Answer a conversation, whole or as it comes."""
    body = await read_body(request, "ChatCompletionRequest")
    wanted = turn_request(
        request, body, read_chat(body["messages"]), tools=chat_tools(body), effort=body.get("reasoning_effort") or ""
    )
    wanted = service.answered_by(wanted, body.get("model"))
    if body.get("stream"):
        usage = bool((body.get("stream_options") or {}).get("include_usage"))
        stream = _Stream(service, wanted, usage=usage)
        return EventStream(
            stream.body(), silence=service.config.keep_alive_seconds, failed=_failed, headers=stream.headers
        )
    answer = TurnSummary()
    async with aclosing(service.turns.play(wanted)) as turn:
        await unless_gone(request, answer.all(turn))
    message: dict[str, Any] = {"role": "assistant", "content": answer.final, "refusal": None, "annotations": []}
    if answer.calls:
        message |= {"content": answer.final or None, "tool_calls": [_call(call) for call in answer.calls]}
    if answer.thoughts:
        message[_THOUGHT] = answer.thought
    finish = "tool_calls" if answer.calls else "stop"
    whole = {
        "id": f"chatcmpl-{wanted.event}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": wanted.called,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": finish}],
        "usage": tokens(answer.usage, chat=True),
    }
    if answer.note:
        whole["hermes"] = {"note": answer.note}
    return json_answer(whole, headers=answer.headers)


class _Stream:
    """One answer in chunks."""

    def __init__(self, service: Service, wanted: TurnRequest, *, usage: bool) -> None:
        self._turn, self._answer, self._usage, self._session = service.turns.play(wanted), TurnSummary(), usage, ""
        head = {
            "id": f"chatcmpl-{wanted.event}",
            "object": "chat.completion.chunk",
            "created": int(time.time()),
            "model": wanted.called,
        }
        self._head = json.dumps(head, separators=(",", ":"))[:-1]

    def headers(self) -> dict[str, str]:
        """What is known when the stream begins."""
        return {"x-hermes-session-id": self._session} if self._session else {}

    async def body(self) -> AsyncGenerator[bytes, None]:
        """The events. Raises ApiError."""
        first, answer = True, self._answer
        async with aclosing(self._turn) as turn:
            async for one in turn:
                if isinstance(one, Started):
                    self._session = one.session_id
                elif text := answer.add(one):
                    said = {_THOUGHT if isinstance(one, Thinking) else "content": text}
                    delta: dict[str, Any] = {"role": "assistant", **said} if first else said
                    first = False
                    yield self._chunk(delta)
                elif told := progress(one):
                    yield self._chunk({}, told, name="hermes.tool.progress")
        answer.check()
        if not answer.shown:
            whole = {"content": answer.text if not answer.calls else None}
            yield self._chunk({"role": "assistant", **whole} if first else whole)
        for number, call in enumerate(answer.calls):
            made = _call(call)
            named = {**made, "function": {**made["function"], "arguments": ""}}
            yield self._chunk({"tool_calls": [{"index": number, **named}]})
            given = {"index": number, "function": {"arguments": made["function"]["arguments"]}}
            yield self._chunk({"tool_calls": [given]})
        yield self._chunk({}, finish="tool_calls" if answer.calls else "stop")
        if self._usage:
            used = json.dumps(tokens(answer.usage, chat=True), separators=(",", ":"))
            yield event(f'{self._head},"choices":[],"usage":{used}}}')
        yield event("[DONE]")

    def _chunk(
        self, delta: dict[str, Any], more: dict[str, Any] | None = None, *, finish: str | None = None, name: str = ""
    ) -> bytes:
        whole = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        choice = json.dumps(whole, ensure_ascii=False, separators=(",", ":"))
        rest = "," + json.dumps(more, ensure_ascii=False)[1:-1] if more else ""
        usage = ',"usage":null' if self._usage else ""
        return event(f'{self._head},"choices":[{choice}]{usage}{rest}}}', name)


def _call(call: ToolCall) -> dict[str, Any]:
    arguments = json.dumps(dict(call.arguments), ensure_ascii=False)
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _failed(error: ApiError) -> bytes:
    return event(error.body) + event("[DONE]")
