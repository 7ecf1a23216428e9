"""Messages as JSON and back, and in the shape of OpenAI's chat completions. Small and explicit; no reflection.

What a newer kernel or plugin wrote and this one does not know is kept as it is and written back unchanged.
"""

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from typing import cast

import attrs
from attrs import frozen

from hermes_core.types import JSON, Blob, Message, Part, Reasoning, Text, ToolCall, ToolResult

_UNCLEAN = re.compile("[\x00\ud800-\udfff]")


@frozen(kw_only=True)
class Unknown:
    """A part that this kernel does not know, as it was stored."""

    data: Mapping[str, JSON]


def clean(text: str) -> str:
    """Text without NUL and lone surrogates; two halves that belong together are joined. Neither can be stored."""
    if not _UNCLEAN.search(text):
        return text
    return text.replace("\x00", "").encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def clean_json(value: JSON) -> JSON:
    """The same for every text in a JSON value, keys too."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        return {clean(str(key)): clean_json(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return [clean_json(item) for item in value]
    return value


def dumps(value: JSON) -> str:
    """Compact JSON text that can be stored; cleaned only where it must be, which is almost never."""
    text = _encode(value)
    if _UNCLEAN.search(text) or "\\u0000" in text:
        text = _encode(clean_json(json.loads(text)))
    return text


def _plain(value: object) -> JSON:
    """Mappings, sequences and attrs values that are not dict or list; anything else as its text."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, bytes):
        return b64encode(value).decode()
    if isinstance(value, Sequence | set | frozenset):
        return list(value)
    if attrs.has(type(value)):
        return attrs.asdict(cast("attrs.AttrsInstance", value), recurse=False)
    return str(value)


def canonical(arguments: Mapping[str, JSON]) -> str:
    """Arguments as text that is equal for equal arguments, whatever the order of their keys."""
    text = _encode_sorted(arguments)
    return dumps(json.loads(text)) if _UNCLEAN.search(text) or "\\u0000" in text else text


_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_plain).encode
_encode_sorted = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_plain, sort_keys=True).encode


def message_to_json(message: Message) -> JSON:
    """A message as JSON; binary data is in base64."""
    data: dict[str, JSON] = {"role": message.role, "parts": [_part_to_json(part) for part in message.parts]}
    if message.meta:
        data["meta"] = dict(message.meta)
    return data


def _part_to_json(part: Part | Unknown) -> JSON:
    match part:
        case Text():
            return {"type": "text", "text": part.text}
        case Reasoning():
            return {"type": "reasoning", "text": part.text, **_given(meta=dict(part.meta))}
        case Blob():
            data = None if part.data is None else b64encode(part.data).decode()
            named = _given(path=part.path, name=part.name)
            return {"type": "blob", "media_type": part.media_type, **({} if data is None else {"data": data}), **named}
        case ToolCall():
            more = _given(invalid=part.invalid, meta=dict(part.meta))
            return {"type": "call", "id": part.id, "name": part.name, "arguments": dict(part.arguments), **more}
        case ToolResult():
            more = _given(failed=part.failed)
            parts = [_part_to_json(piece) for piece in part.parts]
            return {"type": "result", "call_id": part.call_id, "name": part.name, "parts": parts, **more}
        case Unknown():
            return dict(part.data)
    fields = _plain(part)
    return {"type": type(part).__name__.lower(), **(fields if isinstance(fields, dict) else {"value": fields})}


def _given(**fields: JSON) -> dict[str, JSON]:
    return {name: value for name, value in fields.items() if value}


def message_from_json(data: JSON) -> Message:
    """The message that ``message_to_json`` wrote. Raises KeyError or TypeError when it is not one."""
    parts = tuple(_part_from_json(part) for part in data["parts"])
    return Message(role=data["role"], parts=parts, meta=data.get("meta", {}))


def _part_from_json(data: JSON) -> Part:
    try:
        match data["type"]:
            case "text":
                return Text(text=data["text"])
            case "reasoning":
                return Reasoning(text=data["text"], meta=data.get("meta", {}))
            case "blob":
                raw = b64decode(data["data"]) if "data" in data else None
                return Blob(media_type=data["media_type"], data=raw, path=data.get("path"), name=data.get("name", ""))
            case "call":
                fields = {name: data[name] for name in ("id", "name", "arguments", "invalid", "meta") if name in data}
                return ToolCall(**fields)
            case "result":
                inner = tuple(cast("Text | Blob", _part_from_json(part)) for part in data["parts"])
                return ToolResult(
                    call_id=data["call_id"], name=data["name"], parts=inner, failed=data.get("failed", False)
                )
    except (KeyError, TypeError, ValueError):
        pass  # a known name with a shape of the future: kept like an unknown one
    return cast("Part", Unknown(data=data))


def plain_text(parts: Sequence[Part]) -> str:
    """The words of text parts, joined."""
    return "".join(part.text for part in parts if isinstance(part, Text))


def to_openai(message: Message) -> list[JSON]:
    """The message as OpenAI chat-completions messages: one, or one for each result of a tool message."""
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
    if not any(isinstance(part, Blob) for part in parts):
        return plain_text(parts)
    shaped: list[JSON] = []
    for part in parts:
        if isinstance(part, Text):
            shaped.append({"type": "text", "text": part.text})
        elif isinstance(part, Blob):
            raw = "" if part.data is None else b64encode(part.data).decode()
            url = f"data:{part.media_type};base64,{raw}" if part.data is not None else f"file://{part.path}"
            if part.media_type.startswith("image/"):
                shaped.append({"type": "image_url", "image_url": {"url": url}})
            else:
                file = {"filename": part.name or "file", "file_data": url}
                shaped.append({"type": "file", "file": file})
    return shaped
