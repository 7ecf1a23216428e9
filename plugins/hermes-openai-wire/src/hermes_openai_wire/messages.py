"""Messages of a conversation as the chat-completions protocol wants them."""

import json
from collections.abc import Iterable, Sequence
from operator import is_

from hermes_core.patterns import pattern
from hermes_core.types import JSON, Blob, Message, Part, Reasoning, Text, ToolCall, ToolResult, ToolSpec
from hermes_core.values import frozen
from hermes_openai_wire.entry import Entry
from hermes_openai_wire.pictures import describe, picture_url

__all__ = ["Conversion", "Encoded", "Written", "encoded", "function_name", "to_messages", "to_tools"]

_NAME = pattern(r"[^A-Za-z0-9_-]")
encoded = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode  # ``dumps`` makes an encoder each time


@frozen(kw_only=True)
class Conversion:
    """For whom messages are converted. ``key`` is the provider's key in ``meta``."""

    entry: Entry
    key: str
    system_role: str = "system"


class Encoded(str):
    """JSON that is written already."""

    __slots__ = ()


def to_messages(messages: Sequence[Message], how: Conversion) -> list[JSON]:
    """The list for the protocol. Content is never empty; pictures of tool results follow in a message of their own."""
    made: list[JSON] = []
    pictures: list[JSON] = []
    for message in messages:
        if message.role != "tool" and pictures:
            made.append({"role": "user", "content": pictures})
            pictures = []
        made += _converted(message, how, pictures)
    if pictures:
        made.append({"role": "user", "content": pictures})
    return made


def _converted(message: Message, how: Conversion, pictures: list[JSON]) -> list[JSON]:
    if message.role == "tool":
        return [_tool_result(part, how, pictures) for part in message.parts if isinstance(part, ToolResult)]
    if message.role == "assistant":
        return [_assistant(message, how)]
    role = how.system_role if message.role == "system" else "user"
    return [{"role": role, "content": _content(message.parts)}]


class Written:
    """The messages of the last request, as they were sent: each step of a turn sends all that came before it again.

    Messages never change, so each is written once. It is for requests without files, whose content may.
    """

    def __init__(self) -> None:
        self._how: tuple[str, str, str] = ("", "", "")
        self._messages: Sequence[Message] = ()
        self._text = ""
        self._tools: tuple[Sequence[ToolSpec], Encoded] = ((), Encoded("[]"))

    def known(self, messages: Sequence[Message]) -> int:
        """How many of them, from the first on, are the last ones again."""
        before = self._messages
        return len(before) if len(before) <= len(messages) and all(map(is_, before, messages)) else 0

    def messages(self, messages: Sequence[Message], how: Conversion) -> Encoded:
        """What ``to_messages`` gives, as JSON."""
        for_whom = how.entry.name, how.key, how.system_role
        known = self.known(messages) if for_whom == self._how else 0
        fresh = (encoded(made) for message in messages[known:] for made in _converted(message, how, []))
        text = ",".join([*([self._text] if known and self._text else []), *fresh])
        self._how, self._messages, self._text = for_whom, tuple(messages), text
        return Encoded(f"[{text}]")

    def tools(self, tools: Sequence[ToolSpec]) -> Encoded:
        """What ``to_tools`` gives, as JSON."""
        if self._tools[0] is not tools:
            self._tools = tools, Encoded(encoded(to_tools(tools)))
        return self._tools[1]


def to_tools(tools: Sequence[ToolSpec]) -> list[JSON]:
    """The tools on offer, for the protocol."""
    return [
        {"type": "function", "function": {"name": t.name, "description": t.description, "parameters": dict(t.schema)}}
        for t in tools
    ]


def _content(parts: Iterable[Part]) -> JSON:
    made: list[JSON] = []
    for part in parts:
        if isinstance(part, Text) and part.text:
            made.append({"type": "text", "text": part.text})
        elif isinstance(part, Blob):
            url = picture_url(part)
            made.append({"type": "image_url", "image_url": {"url": url}} if url else _text_part(describe(part)))
    if all(part["type"] == "text" for part in made):
        return "\n".join(part["text"] for part in made) or "(no text)"
    return made


def _text_part(text: str) -> dict[str, JSON]:
    return {"type": "text", "text": text}


def _tool_result(result: ToolResult, how: Conversion, pictures: list[JSON]) -> JSON:
    made: list[JSON] = []
    shown: list[JSON] = []
    for part in result.parts:
        if isinstance(part, Text):
            made.append(_text_part(part.text))
        elif not isinstance(part, Blob):
            continue  # a kind of part from a later kernel
        elif url := picture_url(part) if how.entry.tool_images != "none" else "":
            shown.append({"type": "image_url", "image_url": {"url": url}})
        else:
            made.append(_text_part(describe(part)))
    text = "\n".join(part["text"] for part in made if part["text"])
    content: JSON = text or "(no output)"
    if shown and how.entry.tool_images == "list":
        content = [_text_part(content), *shown]
    elif shown:
        content = text or "(a picture; see below)"
        pictures += [_text_part(f"Picture returned by {result.name}:"), *shown]
    return {"role": "tool", "tool_call_id": _call_id(result.call_id, how), "content": content}


def _assistant(message: Message, how: Conversion) -> JSON:
    text = "\n".join(part.text for part in message.parts if isinstance(part, Text) and part.text)
    calls = [_call(part, how) for part in message.parts if isinstance(part, ToolCall)]
    made: dict[str, JSON] = {"role": "assistant", "content": text or (None if calls else "(no text)")}
    if calls:
        made["tool_calls"] = calls
    _replay(made, message, how)
    return made


def function_name(name: str) -> str:
    """A name that can be sent back. A model may call a tool by one that its service then refuses, ever after."""
    return _NAME.sub("_", name)[:64] or "unknown"


def _call(call: ToolCall, how: Conversion) -> JSON:
    arguments = encoded(dict(call.arguments))
    made: dict[str, JSON] = {
        "id": _call_id(call.id, how),
        "type": "function",
        "function": {"name": function_name(call.name), "arguments": arguments},
    }
    own = call.meta.get(how.key)
    if isinstance(own, dict) and own.get("extra_content") is not None:
        made["extra_content"] = own["extra_content"]
    return made


def _replay(made: dict[str, JSON], message: Message, how: Conversion) -> None:
    wanted = how.entry.replay
    own = message.meta.get(how.key)
    kept = own if isinstance(own, dict) else {}
    if "reasoning_details" in wanted and kept.get("reasoning_details"):
        made["reasoning_details"] = kept["reasoning_details"]
        return
    field = next((name for name in wanted if name != "reasoning_details"), "")
    if not field:
        return
    if kept.get("field"):
        made[field] = "".join(part.text for part in message.parts if isinstance(part, Reasoning))
    if how.entry.filler and "tool_calls" in made and not made.get(field):
        made[field] = " "


def _call_id(call_id: str, how: Conversion) -> str:
    if how.entry.call_ids == "nine" and not (len(call_id) == 9 and call_id.isascii() and call_id.isalnum()):
        from hashlib import sha1

        return sha1(call_id.encode(), usedforsecurity=False).hexdigest()[:9]
    return call_id
