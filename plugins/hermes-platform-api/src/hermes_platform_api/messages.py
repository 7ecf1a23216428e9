"""POST /v1/messages: Anthropic's protocol."""

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from hermes_core.types import Started, Thinking, ToolCall, Usage
from hermes_platform_api.errors import ApiError
from hermes_platform_api.kept import Events
from hermes_platform_api.reading import read_messages
from hermes_platform_api.service import Service, TurnSummary, read_body
from hermes_platform_api.sse import EventStream, event, json_answer, unless_gone
from hermes_platform_api.tool_params import message_tools
from hermes_platform_api.turn_request import turn_request

__all__ = ["count", "create"]

# The most tokens of a budget that is such an effort; above, it is a high one.
_BUDGETS = {2_048: "minimal", 8_192: "low", 16_384: "medium"}
_CHARACTERS = 4  # of a token, as a rule
_PICTURE = 1_600  # tokens of a picture


async def create(service: Service, request: Request) -> Response:
    """Answer a conversation in Anthropic's protocol, whole or as it comes."""
    body = await read_body(request, "MessageRequest")
    said = read_messages(body["messages"], body.get("system") or "")
    asked = turn_request(request, body, said, tools=message_tools(body), effort=_effort(body))
    wanted = service.answered_by(asked, body["model"])
    name, thinks = f"msg_{wanted.event}", _thinks(body)
    if body.get("stream"):
        stream = _Stream(service.turns.play(wanted), _message(name, wanted.called), thinks=thinks)
        silence, ping = service.config.keep_alive_seconds, _event("ping")
        return EventStream(stream.body(), silence=silence, failed=_failed, headers=stream.headers, ping=ping)
    answer = TurnSummary()
    async with aclosing(service.turns.play(wanted)) as turn:
        await unless_gone(request, answer.all(turn))
    thoughts = [_thought(text if thinks == "summarized" else "") for text in answer.thoughts if thinks]
    text = [_text(answer.final)] if answer.final else []
    content = [*thoughts, *text, *(_block(call, dict(call.arguments)) for call in answer.calls)]
    ended = {"content": content, "stop_reason": _reason(answer), "usage": _tokens(answer.usage)}
    return json_answer(_message(name, wanted.called) | ended, headers={**answer.headers, "request-id": name})


async def count(service: Service, request: Request) -> Response:
    """About how many tokens a conversation has. What this Hermes adds to it is not counted."""
    body = await read_body(request, "CountRequest")
    service.model(body["model"])
    letters, pictures = _size({name: body.get(name) for name in ("system", "messages", "tools")})
    return json_answer({"input_tokens": max(1, letters // _CHARACTERS) + pictures * _PICTURE})


class _Stream:
    """One message in events. ``thinks`` is how its thoughts are shown; they are not where it is empty."""

    def __init__(self, turn: Events, message: dict[str, Any], *, thinks: str) -> None:
        self._turn, self._message, self._answer, self._session = turn, message, TurnSummary(), ""
        self._thinks, self._index = thinks, -1
        self._open: tuple[bool, int] | None = None  # the block that is told: whether it is thought, and by how many

    def headers(self) -> dict[str, str]:
        """What is known when the stream begins."""
        known = {"request-id": str(self._message["id"])}
        return known | ({"x-hermes-session-id": self._session} if self._session else {})

    async def body(self) -> AsyncGenerator[bytes, None]:
        """The events. Raises ApiError."""
        answer = self._answer
        async with aclosing(self._turn) as turn:
            async for one in turn:
                if isinstance(one, Started):
                    self._session = one.session_id
                    yield _event("message_start", message=self._message) + _event("ping")
                elif text := answer.add(one):
                    if not isinstance(one, Thinking):
                        yield self._told({"type": "text_delta", "text": text})
                    elif self._thinks:
                        yield self._told({"type": "thinking_delta", "thinking": one.text})
        answer.check()
        if answer.text and not answer.shown:
            yield self._told({"type": "text_delta", "text": answer.text})
        yield self._closing()
        for index, call in enumerate(answer.calls, start=self._index + 1):
            arguments = json.dumps(dict(call.arguments), ensure_ascii=False)
            yield _opening(index, _block(call, {}))
            yield _piece(index, {"type": "input_json_delta", "partial_json": arguments})
            yield _event("content_block_stop", index=index)
        delta = {"stop_reason": _reason(answer), "stop_sequence": None}
        yield _event("message_delta", delta=delta, usage=_tokens(answer.usage))
        yield _event("message_stop")

    def _told(self, delta: Mapping[str, Any]) -> bytes:
        """A piece of the block that is open, or of a new one; none of a thought whose words are not wanted."""
        thought, told = "thinking" in delta, b""
        wanted = thought, len(self._answer.thoughts) if self._thinks else 0
        if self._open != wanted:
            told, self._index, self._open = self._closing(), self._index + 1, wanted
            told += _opening(self._index, _thought("") if thought else _text(""))
        return told + (_piece(self._index, delta) if not thought or self._thinks == "summarized" else b"")

    def _closing(self) -> bytes:
        """The end of the block that is open."""
        was, self._open = self._open, None
        signed = _piece(self._index, {"type": "signature_delta", "signature": ""}) if was and was[0] else b""
        return signed + (_event("content_block_stop", index=self._index) if was else b"")


def _message(name: str, model: str) -> dict[str, Any]:
    """A message with nothing in it yet."""
    known = {"id": name, "type": "message", "role": "assistant", "model": model, "content": []}
    ends = {"stop_reason": None, "stop_sequence": None, "stop_details": None, "container": None}
    return {**known, **ends, "usage": _tokens(Usage())}


def _reason(answer: TurnSummary) -> str:
    return "tool_use" if answer.calls else "end_turn"


def _block(call: ToolCall, given: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": given, "caller": {"type": "direct"}}


def _thinks(body: Mapping[str, Any]) -> str:
    """How a client wants what the model thinks: ``summarized``, ``omitted``, or not at all."""
    asked = body.get("thinking") or {"type": "disabled"}
    return "" if asked["type"] == "disabled" else asked.get("display") or "summarized"


def _effort(body: Mapping[str, Any]) -> str:
    """How hard a client wants the model to think; empty leaves it to the settings."""
    asked = body.get("thinking") or {}
    if asked.get("type") == "disabled":
        return "none"
    if effort := (body.get("output_config") or {}).get("effort"):
        return str(effort)
    budget = asked.get("budget_tokens")
    return "" if budget is None else next((effort for most, effort in _BUDGETS.items() if budget <= most), "high")


def _thought(text: str) -> dict[str, Any]:
    """A thought. It has no signature: nobody here asks for it again."""
    return {"type": "thinking", "thinking": text, "signature": ""}


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text, "citations": None}


def _tokens(usage: Usage) -> dict[str, Any]:
    """Tokens as Anthropic's clients read them: those of the cache are apart."""
    return {
        "input_tokens": max(0, usage.input - usage.cache_write - usage.cache_read),
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
        "cache_creation": None,
        "output_tokens": usage.output,
        "output_tokens_details": {"thinking_tokens": usage.reasoning} if usage.reasoning else None,
        "server_tool_use": None,
        "inference_geo": None,
        "service_tier": None,
    }


def _event(kind: str, /, **fields: Any) -> bytes:
    return event({"type": kind, **fields}, kind)


def _opening(index: int, block: Mapping[str, Any]) -> bytes:
    return _event("content_block_start", index=index, content_block=block)


def _piece(index: int, delta: Mapping[str, Any]) -> bytes:
    return _event("content_block_delta", index=index, delta=delta)


def _failed(error: ApiError) -> bytes:
    return event(error.anthropic, "error")


def _size(value: Any) -> tuple[int, int]:
    """Letters, and pictures, of what was sent."""
    if isinstance(value, str):
        return len(value), 0
    if isinstance(value, dict) and value.get("type") == "image":
        return 0, 1
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    sizes = [_size(one) for one in inner]
    return sum(letters for letters, _ in sizes), sum(pictures for _, pictures in sizes)
