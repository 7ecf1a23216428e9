"""A conversation as the library wants it: the shape of OpenAI, with what services want back beside it."""

import json
from collections.abc import Iterable, Mapping, Sequence

from hermes_core.types import JSON, Blob, Message, Part, Reasoning, Request, Text, ToolCall, ToolResult
from hermes_provider_kit.blobs import blob_bytes, blob_words

__all__ = ["BESIDE", "THOUGHTS", "to_messages", "to_tools"]

THOUGHTS = "thinking_blocks"  # what Claude wants back, as it was
BESIDE = "provider_specific_fields"  # what Gemini wants back with a call
DOCUMENTS = ("application/pdf",)


def to_tools(request: Request) -> list[JSON]:
    """Give the tools on offer."""
    return [
        {"type": "function", "function": {"name": t.name, "description": t.description, "parameters": dict(t.schema)}}
        for t in request.tools
    ]


def to_messages(messages: Sequence[Message], key: str) -> list[JSON]:
    """Give the list of messages. Files of tool results follow in a message of their own, as few services take them.

    Args:
        messages: The conversation.
        key: The provider's key in ``meta``.
    """
    made: list[JSON] = []
    files: list[JSON] = []
    for message in messages:
        if message.role != "tool" and files:
            made.append({"role": "user", "content": files})
            files = []
        if message.role == "assistant":
            made.append(_assistant(message, key))
        elif message.role == "tool":
            for part in message.parts:
                if isinstance(part, ToolResult):
                    made.append(_result(part))
                    files += [_blob(one) for one in part.parts if isinstance(one, Blob)]
        else:
            made.append({"role": message.role, "content": _content(message.parts)})
    return [*made, *([{"role": "user", "content": files}] if files else [])]


def _assistant(message: Message, key: str) -> JSON:
    made: dict[str, JSON] = {"role": "assistant", "content": _text(message.parts) or None}
    thoughts = [block for part in message.parts for block in _kept(part, key, THOUGHTS)]
    if thoughts:
        made[THOUGHTS] = thoughts
    if calls := [_call(part, key) for part in message.parts if isinstance(part, ToolCall)]:
        made["tool_calls"] = calls
    elif made["content"] is None:
        made["content"] = "(no text)"
    return made


def _call(call: ToolCall, key: str) -> JSON:
    function = {"name": call.name, "arguments": json.dumps(dict(call.arguments), ensure_ascii=False)}
    own = call.meta.get(key)
    beside = own.get(BESIDE) if isinstance(own, Mapping) else None
    return {"id": call.id, "type": "function", "function": function, **({BESIDE: beside} if beside else {})}


def _kept(part: Part, key: str, name: str) -> Iterable[JSON]:
    own = part.meta.get(key) if isinstance(part, Reasoning) else None
    found = own.get(name) if isinstance(own, Mapping) else None
    return found if isinstance(found, Sequence) and not isinstance(found, str) else ()


def _result(result: ToolResult) -> JSON:
    said = "\n".join(part.text for part in result.parts if isinstance(part, Text)) or "(no output)"
    told = f"Error: {said}" if result.failed else said
    return {"role": "tool", "tool_call_id": result.call_id, "name": result.name, "content": told}


def _text(parts: Sequence[Part]) -> str:
    return "\n".join(part.text for part in parts if isinstance(part, Text) and part.text.strip())


def _content(parts: Sequence[Part]) -> JSON:
    if not any(isinstance(part, Blob) for part in parts):
        return _text(parts) or "(no text)"
    made: list[JSON] = []
    for part in parts:
        if isinstance(part, Text) and part.text.strip():
            made.append({"type": "text", "text": part.text})
        elif isinstance(part, Blob):
            made.append(_blob(part))
    return made


def _blob(blob: Blob) -> JSON:
    picture = blob.media_type.startswith("image/")
    carried = picture or blob.media_type in DOCUMENTS
    data = blob_bytes(blob) if carried else b""
    if not data:
        return {"type": "text", "text": blob_words(blob, unreadable=carried)}
    from base64 import b64encode

    url = f"data:{blob.media_type};base64,{b64encode(data).decode()}"
    if picture:
        return {"type": "image_url", "image_url": {"url": url}}
    return {"type": "file", "file": {"filename": blob.name or "file.pdf", "file_data": url}}
