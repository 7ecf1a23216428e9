"""What was said, as attributes of spans: redacted, and no longer than it must be."""

import json
from collections.abc import Callable, Sequence

from hermes_core.types import Blob, Message, Part, Text, ToolCall, ToolResult

__all__ = ["LONGEST", "arguments", "messages", "split", "text"]

LONGEST = 16_000  # characters of one attribute
Mask = Callable[[str], str]  # takes secrets out of a text


def split(said: Sequence[Message]) -> tuple[Sequence[Message], Sequence[Message]]:
    """The system's words, and all others."""
    return [m for m in said if m.role == "system"], [m for m in said if m.role != "system"]


def messages(said: Sequence[Message], mask: Mask) -> str:
    """Messages as JSON, in the shape of the conventions; of too many, the last."""
    shaped = [{"role": m.role, "parts": [_part(part, mask) for part in m.parts]} for m in said]
    dumped = json.dumps(shaped, ensure_ascii=False, default=str)
    while len(dumped) > LONGEST and len(shaped) > 1:
        shaped = shaped[(len(shaped) + 1) // 2 :]
        dumped = json.dumps(shaped, ensure_ascii=False, default=str)
    return _cut(dumped, mask)


def arguments(call: ToolCall, mask: Mask) -> str:
    """A tool call's arguments as JSON."""
    return _cut(json.dumps(call.arguments, ensure_ascii=False, default=str), mask)


def text(parts: Sequence[Part], mask: Mask) -> str:
    """The words of a tool's result."""
    return _cut("".join(part.text for part in parts if isinstance(part, Text)), mask)


def _part(part: Part, mask: Mask) -> dict[str, object]:
    if isinstance(part, Text):
        return {"type": "text", "content": part.text}
    if isinstance(part, ToolCall):
        return {"type": "tool_call", "id": part.id, "name": part.name, "arguments": part.arguments}
    if isinstance(part, ToolResult):
        return {"type": "tool_call_response", "id": part.call_id, "response": text(part.parts, mask)}
    if isinstance(part, Blob):
        return {"type": "blob", "mime_type": part.media_type}
    return {"type": type(part).__name__.lower()}


def _cut(words: str, mask: Mask) -> str:
    """Redacted before it is cut: half a secret is no match."""
    words = mask(words)
    return words if len(words) <= LONGEST else f"{words[:LONGEST]}…"
