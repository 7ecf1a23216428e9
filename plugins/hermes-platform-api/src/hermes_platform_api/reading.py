"""What a client sends, as messages of the kernel."""

import base64
import binascii
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hermes_core.types import Blob, Message, Text, ToolCall, ToolResult
from hermes_core.values import frozen
from hermes_platform_api.errors import ApiError

__all__ = ["Said", "read_chat", "read_input", "read_items", "refuse_files"]

_FILES = ("file", "input_file", "input_audio", "audio", "video_url")
_LARGEST_IMAGE = 5_000_000
_Given = Mapping[str, Any]


@frozen(kw_only=True)
class Said:
    """One message, what was said before it, and what the caller's program adds to the prompt."""

    message: Message
    history: Sequence[Message] = ()
    system: str = ""


def refuse_files(body: Any) -> None:
    """Raises ApiError for a content part that is a file: its own code, whatever else may be wrong."""
    for name in ("messages", "input", "conversation_history"):
        found = body.get(name) if isinstance(body, dict) else None
        for item in found if isinstance(found, list) else ():
            content = item.get("content") if isinstance(item, dict) else None
            for part in (item, *(content if isinstance(content, list) else ())):
                if isinstance(part, dict) and part.get("type") in _FILES:
                    text = f"Content of type {part['type']} is not supported: only text and images are."
                    raise ApiError(400, "unsupported_content_type", text, param=name)


def read_chat(messages: Sequence[_Given]) -> Said:
    """The messages of a chat completion. Raises ApiError."""
    calls: dict[str, str] = {}
    return _said([_chat_message(one, calls) for one in messages], "messages")


def read_items(given: str | Sequence[_Given]) -> Said:
    """The input of a response. Raises ApiError."""
    if isinstance(given, str):
        return Said(message=_message("user", [Text(text=given)]))
    return _said([_message(_role(one["role"]), _parts(one["content"])) for one in given], "input")


def read_input(given: str | Sequence[_Given]) -> Message:
    """A text, or parts. Raises ApiError."""
    return _spoken(_message("user", _parts(given)), "input")


def _said(messages: Sequence[Message], param: str) -> Said:
    system = "\n\n".join(_words(m) for m in messages if m.role == "system" and _words(m).strip())
    rest = [m for m in messages if m.role != "system"]
    if not rest or rest[-1].role != "user":
        raise ApiError(400, "last_message_not_user", "The last message must be the user's.", param=param)
    return Said(message=_spoken(rest[-1], param), history=rest[:-1], system=system)


def _spoken(message: Message, param: str) -> Message:
    if not _words(message).strip() and not any(isinstance(p, Blob) for p in message.parts):
        raise ApiError(400, "empty_message", "The message says nothing.", param=param)
    return message


def _words(message: Message) -> str:
    return "\n".join(p.text for p in message.parts if isinstance(p, Text))


def _role(role: str) -> Any:
    return "system" if role == "developer" else role


def _message(role: Any, parts: Iterable[Any]) -> Message:
    return Message(role=role, parts=tuple(parts))


def _chat_message(one: _Given, calls: dict[str, str]) -> Message:
    parts: list[Any] = list(_parts(one.get("content") or ""))
    if one["role"] == "tool":
        name = calls.get(one["tool_call_id"], "tool")
        # Where it comes from is not known here, so it is taken for text from outside.
        result = ToolResult(call_id=one["tool_call_id"], name=name, parts=tuple(parts), untrusted=True)
        return Message(role="tool", parts=(result,), untrusted=True)
    for call in one.get("tool_calls") or () if one["role"] == "assistant" else ():
        calls[call["id"]] = call["function"]["name"]
        parts.append(_call(call))
    return _message(_role(one["role"]), parts)


def _call(call: _Given) -> ToolCall:
    name, text = call["function"]["name"], call["function"]["arguments"]
    try:
        arguments = json.loads(text or "{}")
    except (ValueError, RecursionError):
        arguments = None
    wrong = "" if isinstance(arguments, dict) else "the arguments are no JSON object"
    return ToolCall(id=call["id"], name=name, arguments=arguments if not wrong else {}, invalid=wrong)


def _parts(content: str | Sequence[_Given]) -> Iterable[Text | Blob]:
    if isinstance(content, str):
        return [Text(text=content)] if content else []
    return [_part(part) for part in content]


def _part(part: _Given) -> Text | Blob:
    if "text" in part:
        return Text(text=part["text"])
    url = part["image_url"]
    head, _, data = (url if isinstance(url, str) else url["url"]).partition(",")
    try:
        picture = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise ApiError(400, "invalid_image", "An image is no valid base64.", param="image_url") from None
    if not picture or len(picture) > _LARGEST_IMAGE:
        raise ApiError(400, "invalid_image", f"An image has 1 to {_LARGEST_IMAGE:,} bytes.", param="image_url")
    return Blob(media_type=head[5:].partition(";")[0], data=picture)
