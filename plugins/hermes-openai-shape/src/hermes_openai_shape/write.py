"""Messages in the shape of OpenAI's chat completions, for files that others read."""

from base64 import b64encode
from collections.abc import Sequence

from hermes_core.codec import canonical, plain_text
from hermes_core.types import JSON, Blob, Message, Part, Reasoning, Text, ToolCall, ToolResult

__all__ = ["conversation", "shapes"]


def conversation(prompt: str, messages: Sequence[Message]) -> list[JSON]:
    """Return a whole conversation as OpenAI chat-completions messages, with the ``prompt`` that it began with."""
    begins: list[JSON] = [{"role": "system", "content": prompt}] if prompt else []
    return [*begins, *(shape for message in messages for shape in shapes(message))]


def shapes(message: Message) -> list[JSON]:
    """Return the message as OpenAI chat-completions messages: one, or one for each result of a tool message."""
    if message.role == "tool":
        results = [part for part in message.parts if isinstance(part, ToolResult)]
        return [
            {"role": "tool", "tool_call_id": r.call_id, "name": r.name, "content": _content(r.parts)} for r in results
        ]
    shaped: dict[str, JSON] = {"role": message.role, "content": _content(message.parts)}
    if thought := "".join(part.text for part in message.parts if isinstance(part, Reasoning)):
        shaped["reasoning_content"] = thought
    calls = [part for part in message.parts if isinstance(part, ToolCall)]
    if calls:
        shaped["content"] = shaped["content"] or None
        shaped["tool_calls"] = [
            {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": canonical(c.arguments)}}
            for c in calls
        ]
    return [shaped]


def _content(parts: Sequence[Part]) -> JSON:
    """Return text alone as text; with pictures and files, a list."""
    if not any(isinstance(part, Blob) for part in parts):
        return plain_text(parts)
    shaped: list[JSON] = []
    for part in parts:
        if isinstance(part, Text):
            shaped.append({"type": "text", "text": part.text})
        elif isinstance(part, Blob):
            inline = part.data is not None and f"data:{part.media_type};base64,{b64encode(part.data).decode()}"
            url = inline or f"file://{part.path}"
            if part.media_type.startswith("image/"):
                shaped.append({"type": "image_url", "image_url": {"url": url}})
            else:
                shaped.append({"type": "file", "file": {"filename": part.name or "file", "file_data": url}})
    return shaped
