"""Messages as JSON and back, as they are stored. Small and explicit.

What a newer kernel or plugin wrote and this one does not know is kept as it is and written back unchanged.
"""

import json
import math
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import attrs

from hermes_core.types import (
    JSON,
    Blob,
    Button,
    Buttons,
    Location,
    Message,
    Part,
    Poll,
    Reasoning,
    Role,
    Text,
    ToolCall,
    ToolResult,
)
from hermes_core.values import frozen

__all__ = [
    "canonical", "clean", "clean_json", "dumps", "message_from_json", "message_to_json", "plain_text", "searchable",
    "stored",
]  # fmt: skip

_PARTS: dict[str, type[attrs.AttrsInstance]] = {
    "text": Text,
    "poll": Poll,
    "location": Location,
    "reasoning": Reasoning,
    "blob": Blob,
    "call": ToolCall,
    "result": ToolResult,
    "buttons": Buttons,
}
_NAMES = {cls: name for name, cls in _PARTS.items()}
_FIELDS = {name: [field.name for field in attrs.fields(cls) if field.init] for name, cls in _PARTS.items()}


@frozen(kw_only=True)
class Unknown:
    """A part that this kernel does not know, as it was stored."""

    data: Mapping[str, JSON]


def clean(text: str) -> str:
    """Take NUL and lone surrogates out of text; two halves that belong together are joined. Neither can be stored."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.replace("\x00", "")


def clean_json(value: JSON) -> JSON:
    """Do the same for every text in a JSON value, keys too; numbers that JSON has no word for become null."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {clean(key): clean_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [clean_json(item) for item in value]
    return value


def _plain(value: object) -> JSON:
    """Put into JSON what it has no word for: mappings and attrs values as objects, anything else as its text."""
    if attrs.has(type(value)):
        return attrs.asdict(cast("attrs.AttrsInstance", value), recurse=False)
    return dict(value) if isinstance(value, Mapping) else str(value)


_compact: dict[str, Any] = {"ensure_ascii": False, "separators": (",", ":"), "default": _plain}
_encode = json.JSONEncoder(**_compact, allow_nan=False).encode
_encode_sorted = json.JSONEncoder(**_compact, allow_nan=False, sort_keys=True).encode
_encode_loosely = json.JSONEncoder(**_compact).encode


def dumps(value: JSON, encode: Callable[[JSON], str] = _encode) -> str:
    """Write compact JSON text that can be stored; cleaned only where it must be, which is almost never."""
    try:
        text = encode(value)
    except ValueError:  # NaN or infinity
        text = _encode_loosely(value)
    else:
        if "\\u0000" not in text and text == clean(text):
            return text
    return encode(clean_json(json.loads(text)))


def canonical(arguments: Mapping[str, JSON]) -> str:
    """Return arguments as text that is equal for equal arguments, whatever the order of their keys."""
    return dumps(arguments, _encode_sorted)


def message_to_json(message: Message) -> dict[str, JSON]:
    """Return a message as JSON; binary data is in base64."""
    data = {"role": message.role, "parts": [_part_to_json(part) for part in message.parts]}
    more = {"meta": message.meta, "untrusted": message.untrusted}
    return data | {name: value for name, value in more.items() if value}


def _part_to_json(part: Part | Unknown) -> JSON:
    """Return a part by its fields, without those that say nothing."""
    if isinstance(part, Unknown):
        return part.data
    data: dict[str, JSON] = {"type": _NAMES.get(type(part)) or type(part).__name__.lower()}
    for field in attrs.fields(type(part)):  # also what follows from the rest, for who knows no such part
        value = getattr(part, field.name)
        if value or field.default is attrs.NOTHING:
            data[field.name] = value
    if isinstance(part, Buttons):
        data["buttons"] = [attrs.asdict(button) for button in part.buttons]
    if isinstance(part, Blob) and part.data is not None:
        data["data"] = b64encode(part.data).decode()
    elif isinstance(part, ToolResult):
        data["parts"] = [_part_to_json(piece) for piece in part.parts]
    return data


def message_from_json(data: JSON) -> Message:
    """Return the message that ``message_to_json`` wrote. Raises KeyError or TypeError when it is not one."""
    parts = tuple(_part_from_json(part) for part in data["parts"])
    untrusted = data.get("untrusted") is True
    return Message(role=data["role"], parts=parts, meta=data.get("meta", {}), untrusted=untrusted)


def stored(body: str) -> Message:
    """Return a message as its row has it; of an unreadable row, that it was there. A session is never lost to one."""
    try:
        return message_from_json(json.loads(body))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        role: Role = "assistant" if body.startswith('{"role":"assistant"') else "user"
        return Message(role=role, parts=(Text(text="(A message that was here cannot be read.)"),))


def _part_from_json(data: JSON) -> Part:
    try:
        fields = {name: data[name] for name in _FIELDS[data["type"]] if name in data}
        if data["type"] == "blob" and "data" in fields:
            fields["data"] = b64decode(fields["data"])
        elif data["type"] == "result":
            fields["parts"] = tuple(_part_from_json(part) for part in data["parts"])
        elif data["type"] == "buttons":
            fields["buttons"] = tuple(Button(**button) for button in data["buttons"])
        return cast("Part", _PARTS[data["type"]](**fields))
    except (KeyError, TypeError, ValueError):  # also a known name with a shape of the future
        return cast("Part", Unknown(data=data))


def plain_text(parts: Sequence[Part]) -> str:
    """Return the words of text parts, joined."""
    return "".join(part.text for part in parts if isinstance(part, Text))


def searchable(parts: Sequence[Part]) -> str:
    """Return what of a message can be found: its text, calls with their arguments, and results; not the thinking."""
    texts = []
    for part in parts:
        if isinstance(part, Text):
            texts.append(part.text)
        elif isinstance(part, ToolCall):
            texts.append(f"{part.name} {canonical(part.arguments)}")
        elif isinstance(part, ToolResult):
            texts.append(f"{part.name} {plain_text(part.parts)}")
    return "\n".join(texts)
