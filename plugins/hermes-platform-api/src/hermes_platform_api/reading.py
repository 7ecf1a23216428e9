"""What a client sends, as messages of the kernel."""

import base64
import binascii
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from attrs import Factory

from hermes_core.types import Blob, Message, Text, ToolCall, ToolResult
from hermes_core.values import frozen
from hermes_platform_api.client_tools import ClientResult
from hermes_platform_api.errors import ApiError

__all__ = ["Said", "read_chat", "read_input", "read_items", "read_messages", "refuse_files"]

_FILES = ("file", "input_file", "input_audio", "audio", "video_url", "document")
_LARGEST_IMAGE = 5_000_000
_GO_ON = "The results of these calls are there now. Go on."
_Given = Mapping[str, Any]


@frozen(kw_only=True)
class Said:
    """One message, what was said before it, and what the caller's program adds to the prompt.

    ``results`` are of calls of its own tools; ``words`` is what it says besides them, ``late`` the same and they as one
    message, for a session whose turn did not wait so long; and ``whole`` is all.
    """

    message: Message
    history: Sequence[Message] = ()
    system: str = ""
    results: Mapping[str, ClientResult] = Factory(dict)
    words: Message | None = None
    late: Message | None = None
    whole: Sequence[Message] = ()


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
        message = _message("user", [Text(text=given)])
        return Said(message=message, whole=(message,))
    found: list[Message] = []
    calls: dict[str, str] = {}
    for one in given:
        message = _item_message(one, calls)
        if message.role == "assistant" and found and found[-1].role == "assistant":  # one reply, in several items
            message = _message("assistant", (*found.pop().parts, *message.parts))
        if message.parts:
            found.append(message)
    return _said(found, "input")


def read_messages(messages: Sequence[_Given], system: str | Sequence[_Given]) -> Said:
    """The messages of Anthropic's API. Raises ApiError."""
    calls: dict[str, str] = {}
    words = system if isinstance(system, str) else "\n\n".join(part["text"] for part in system)
    above = [_message("system", [Text(text=words)])] if words.strip() else []
    return _said([*above, *(m for one in messages for m in _block_messages(one, calls))], "messages")


def read_input(given: str | Sequence[_Given]) -> Message:
    """A text, or parts. Raises ApiError."""
    return _spoken(_message("user", _parts(given)), "input")


def _said(messages: Sequence[Message], param: str) -> Said:
    system = "\n\n".join(_words(m) for m in messages if m.role == "system" and _words(m).strip())
    rest = [m for m in messages if m.role != "system"]
    replied = max((n for n, m in enumerate(rest, 1) if m.role == "assistant"), default=0)
    given = [part for m in rest[replied:] for part in m.parts if isinstance(part, ToolResult)]
    if given:
        return _resulting(rest, replied, given, system)
    if not rest or rest[-1].role != "user":
        raise ApiError(400, "last_message_not_user", "The last message must be the user's.", param=param)
    return Said(message=_spoken(rest[-1], param), history=rest[:-1], system=system, whole=rest)


def _resulting(rest: Sequence[Message], replied: int, given: Sequence[ToolResult], system: str) -> Said:
    """What ends with results of calls. Where no turn waits for them, the last word is said in a message of its own."""
    results = {one.call_id: ClientResult(parts=one.parts, failed=one.failed) for one in given}
    spoken = [part for m in rest[replied:] if m.role == "user" for part in m.parts]
    words = _message("user", spoken) if spoken else None
    told = [part for one in given for part in (Text(text=f"The result of call {one.call_id}:"), *one.parts)]
    late = Message(role="user", parts=(*told, *spoken), untrusted=True)
    made = {part.id for m in rest[:replied] for part in m.parts if isinstance(part, ToolCall)}
    if results.keys() <= made:
        message = words or _message("user", [Text(text=_GO_ON)])
        history = [*rest[:replied], *(m for m in rest[replied:] if m.role == "tool")]
    else:  # the calls are in a session
        message, history = late, list(rest[:replied])
    more: Any = {"results": results, "words": words, "late": late, "whole": rest}
    return Said(message=message, history=history, system=system, **more)


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
        return _result(one["tool_call_id"], parts, calls)
    for call in one.get("tool_calls") or () if one["role"] == "assistant" else ():
        function = call["function"]
        parts.append(_call(call["id"], function["name"], function["arguments"], calls))
    return _message(_role(one["role"]), parts)


def _item_message(one: _Given, calls: dict[str, str]) -> Message:
    kind = one.get("type")
    if kind == "function_call":
        return _message("assistant", [_call(one["call_id"], one["name"], one["arguments"], calls)])
    if kind == "function_call_output":
        return _result(one["call_id"], list(_parts(one["output"])), calls)
    if kind == "reasoning":  # it was told to the client, and is nothing that was said
        return _message("assistant", [])
    return _message(_role(one["role"]), _parts(one["content"]))


def _block_messages(one: _Given, calls: dict[str, str]) -> list[Message]:
    """A message of Anthropic's API: results of calls are parts of the user's there, and messages of their own here."""
    content = one["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    results: list[Message] = []
    parts: list[Any] = []
    for block in blocks:
        match block["type"]:
            case "tool_result":
                inner = list(_parts(block.get("content") or ""))
                results.append(_result(block["tool_use_id"], inner, calls, failed=bool(block.get("is_error"))))
            case "tool_use":
                calls[block["id"]] = block["name"]
                given: Any = block["input"]
                parts.append(ToolCall(id=block["id"], name=block["name"], arguments=given))
            case "thinking" | "redacted_thinking":
                pass
            case _:
                parts.extend(_parts([block]))
    return [*results, *([_message(one["role"], parts)] if parts or not results else [])]


def _result(call_id: str, parts: Sequence[Any], calls: Mapping[str, str], *, failed: bool = False) -> Message:
    """The result of a call. Where it comes from is not known here, so it is taken for text from outside."""
    name = calls.get(call_id, "tool")
    result = ToolResult(call_id=call_id, name=name, parts=tuple(parts), failed=failed, untrusted=True)
    return Message(role="tool", parts=(result,), untrusted=True)


def _call(call_id: str, name: str, text: str, calls: dict[str, str]) -> ToolCall:
    calls[call_id] = name
    arguments: Any
    try:
        arguments = json.loads(text or "{}")
    except (ValueError, RecursionError):
        arguments = None
    wrong = "" if isinstance(arguments, dict) else "the arguments are no JSON object"
    return ToolCall(id=call_id, name=name, arguments=arguments if not wrong else {}, invalid=wrong)


def _parts(content: str | Sequence[_Given]) -> Iterable[Text | Blob]:
    if isinstance(content, str):
        return [Text(text=content)] if content else []
    return [_part(part) for part in content]


def _part(part: _Given) -> Text | Blob:
    if "text" in part:
        return Text(text=part["text"])
    if "source" in part:
        return _picture(part["source"]["media_type"], part["source"]["data"], "source")
    url = part["image_url"]
    head, _, data = (url if isinstance(url, str) else url["url"]).partition(",")
    return _picture(head[5:].partition(";")[0], data, "image_url")


def _picture(media_type: str, data: str, param: str) -> Blob:
    try:
        picture = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise ApiError(400, "invalid_image", "An image is no valid base64.", param=param) from None
    if not picture or len(picture) > _LARGEST_IMAGE:
        raise ApiError(400, "invalid_image", f"An image has 1 to {_LARGEST_IMAGE:,} bytes.", param=param)
    return Blob(media_type=media_type, data=picture)
