"""What is said on the wire: a conversation as Ollama wants it, and its replies as deltas."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hermes_core.types import CallDelta, Message, ReasoningDelta, Text, TextDelta, ToolCall, ToolResult, ToolSpec


def messages(said: Sequence[Message]) -> list[Mapping[str, Any]]:
    return [row for message in said for row in _rows(message)]


def _rows(message: Message) -> Iterator[Mapping[str, Any]]:
    results = [part for part in message.parts if isinstance(part, ToolResult)]
    for result in results:
        yield {"role": "tool", "tool_name": result.name, "content": text(result.parts)}
    if not results:
        calls = [part for part in message.parts if isinstance(part, ToolCall)]
        called = [{"function": {"name": call.name, "arguments": dict(call.arguments)}} for call in calls]
        more = {"tool_calls": called} if called else {}
        yield {"role": message.role, "content": text(message.parts), **more}


def text(parts: Sequence[object]) -> str:
    return "\n".join(part.text for part in parts if isinstance(part, Text))


def deltas(said: Mapping[str, Any], calls: int) -> Iterator[object]:
    if said.get("thinking"):
        yield ReasoningDelta(text=said["thinking"])
    if said.get("content"):
        yield TextDelta(text=said["content"])
    for at, call in enumerate(said.get("tool_calls") or (), calls):
        function = call["function"]
        yield CallDelta(index=at, id=f"call_{at}", name=function["name"], arguments=json.dumps(function["arguments"]))


def tools(offered: Sequence[ToolSpec]) -> list[Mapping[str, Any]]:
    return [
        {"type": "function", "function": {"name": t.name, "description": t.description, "parameters": t.schema}}
        for t in offered
    ]
