"""How a response looks, and what it is made of."""

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

from hermes_core.types import ToolCall
from hermes_platform_api.service import TurnSummary, tokens

__all__ = [
    "PREFIX",
    "ResponseShape",
    "call_item",
    "items",
    "message_item",
    "text_part",
    "thought_item",
    "thought_part",
    "whole_response",
]

PREFIX = "resp_"
_NOBODY = {  # settings of a model, which are this Hermes's own; as if each were what it is by itself
    "temperature": 1.0,
    "top_p": 1.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
    "top_logprobs": 0,
    "max_output_tokens": None,
    "max_tool_calls": None,
    "truncation": "disabled",
    "service_tier": "default",
    "background": False,
}


class ResponseShape:
    """A response that belongs to a request, as it is at any time."""

    def __init__(self, event: str, called: str, body: Mapping[str, Any]) -> None:
        self.name, self.created, self._model = f"{PREFIX}{event}", int(time.time()), called
        wanted = body.get("reasoning") or {}
        self.summary = bool(wanted.get("summary"))  # whether thoughts stand where a client looks for their summary
        self._said = {
            "instructions": body.get("instructions"),
            "metadata": body.get("metadata") or {},
            "previous_response_id": body.get("previous_response_id"),
            "store": body.get("store") is not False,
            "tools": [_tool(one) for one in body.get("tools") or ()],
            "tool_choice": body.get("tool_choice") or "auto",
            "parallel_tool_calls": body.get("parallel_tool_calls") is not False,
            "reasoning": {"effort": wanted.get("effort"), "summary": wanted.get("summary")},
            "safety_identifier": body.get("safety_identifier"),
            "prompt_cache_key": body.get("prompt_cache_key"),
        }

    def begun(self) -> dict[str, Any]:
        """The response with nothing in it yet."""
        return whole_response(self.name, self.created, self._model, "in_progress") | self._said

    def whole(self, status: str, answer: TurnSummary, output: Sequence[Mapping[str, Any]] | None = None) -> Any:
        """The response at its end: thoughts, a text, calls; or what was told of it as its ``output``."""
        found = whole_response(self.name, self.created, self._model, status) | self._said
        if output is None:
            thoughts = [thought_item(self.name, text, n, self.summary) for n, text in enumerate(answer.thoughts)]
            output = [*thoughts, *items(self.name, answer.final, answer.calls, status)]
        return found | {"output": output, "usage": tokens(answer.usage), "conversation": {"id": answer.session}}


def whole_response(name: str, created: int, model: str, status: str) -> dict[str, Any]:
    """A response with nothing in it, of which nothing was said but its id."""
    return {
        "id": name,
        "object": "response",
        "created_at": created,
        "completed_at": int(time.time()) if status == "completed" else None,
        "status": status,
        "model": model,
        "output": [],
        "usage": None,
        "error": None,
        "incomplete_details": {"reason": "interrupted"} if status == "incomplete" else None,
        "instructions": None,
        "metadata": {},
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "store": True,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "reasoning": {"effort": None, "summary": None},
        "safety_identifier": None,
        "prompt_cache_key": None,
        **_NOBODY,
    }


def items(name: str, text: str, calls: Sequence[ToolCall] = (), status: str = "completed") -> list[dict[str, Any]]:
    """What a response of some status came to."""
    said = [message_item(name, text, "completed" if status == "completed" else "incomplete")] if text else []
    return [*said, *(call_item(call, status="completed") for call in calls)]


def message_item(name: str, text: str, status: str, number: int = 0) -> dict[str, Any]:
    """What was said, for the so many-th time: a thought between begins another message."""
    content = [] if status == "in_progress" else [text_part(text)]
    item = f"msg_{name.removeprefix(PREFIX)}{f'_{number}' if number else ''}"
    return {"id": item, "type": "message", "role": "assistant", "status": status, "content": content}


def thought_item(name: str, text: str, number: int, summary: bool) -> dict[str, Any]:
    """What the model thought, for the so many-th time; empty while its text is still to come."""
    parts = [thought_part(text, summary)] if text else []
    item = {"id": f"rs_{name.removeprefix(PREFIX)}_{number}", "type": "reasoning", "summary": parts if summary else []}
    return item if summary else {**item, "content": parts}


def call_item(call: ToolCall, *, status: str) -> dict[str, Any]:
    """A call of the client's own tool; its arguments come with its end."""
    known = {"id": f"fc_{call.id.removeprefix('call_')}", "type": "function_call", "status": status}
    arguments = "" if status == "in_progress" else json.dumps(dict(call.arguments), ensure_ascii=False)
    return {**known, "call_id": call.id, "name": call.name, "arguments": arguments}


def thought_part(text: str, summary: bool) -> dict[str, Any]:
    """The text of a thought."""
    return {"type": "summary_text" if summary else "reasoning_text", "text": text}


def text_part(text: str) -> dict[str, Any]:
    """The text of a message."""
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _tool(one: Mapping[str, Any]) -> dict[str, Any]:
    named = {"type": "function", "name": one["name"], "description": one.get("description")}
    return {**named, "parameters": one.get("parameters"), "strict": one.get("strict", True)}
