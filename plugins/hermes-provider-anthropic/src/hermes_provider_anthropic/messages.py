"""Messages of a conversation as the Messages protocol wants them."""

import re
from collections.abc import Iterable, Sequence

from attrs import field

from hermes_core.types import JSON, Blob, Message, Part, Text, ToolCall, ToolResult
from hermes_core.values import frozen
from hermes_provider_anthropic.blobs import blob_block
from hermes_provider_anthropic.thoughts import THINKING, kept_layout, rebuild, thinking_only

__all__ = ["Conversion", "to_messages", "to_system"]

EMPTY = "(no text)"
GO_ON = "Go on."
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_NAME = re.compile(r"[^A-Za-z0-9_-]")


@frozen(kw_only=True)
class Conversion:
    """For whom messages are converted. ``key`` is the provider's key in ``meta``; ``refused`` are dead signatures."""

    key: str
    unsigned: bool = False
    pictures: bool = True
    refused: set[str] = field(factory=set)


def to_system(messages: Sequence[Message]) -> tuple[list[dict[str, JSON]], Sequence[Message]]:
    """The blocks of the system messages at the start, and the other messages."""
    blocks: list[dict[str, JSON]] = []
    for at, message in enumerate(messages):
        if message.role != "system":
            return blocks, messages[at:]
        blocks += [_text(part.text) for part in message.parts if isinstance(part, Text) and part.text.strip()]
    return blocks, ()


def to_messages(messages: Sequence[Message], how: Conversion) -> list[dict[str, JSON]]:
    """The list for the protocol: user and assistant take turns, a user begins and ends, nothing is empty.

    Results of tools and what the person says after them are one message, the results first.
    """
    turns: list[dict[str, JSON]] = []
    ids = _Ids()
    for message in messages:
        role = "assistant" if message.role == "assistant" else "user"
        blocks = _assistant(message, how, ids) if role == "assistant" else _user(message, how, ids)
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] += blocks
        else:
            turns.append({"role": role, "content": blocks})
    if not turns or turns[0]["role"] != "user":
        turns.insert(0, {"role": "user", "content": [_text(GO_ON)]})
    if turns[-1]["role"] != "user":  # newer models refuse to write on from an answer that is begun for them
        turns.append({"role": "user", "content": [_text(GO_ON)]})
    for turn in turns:
        content = turn["content"]
        if not content or (turn["role"] == "assistant" and content[-1]["type"] in THINKING):
            content.append(_text(EMPTY))
    return turns


def _user(message: Message, how: Conversion, ids: "_Ids") -> list[dict[str, JSON]]:
    results = [_result(part, how, ids) for part in message.parts if isinstance(part, ToolResult)]
    return results + _content(message.parts, how)


def _content(parts: Iterable[Part], how: Conversion) -> list[dict[str, JSON]]:
    made: list[dict[str, JSON]] = []
    for part in parts:
        if isinstance(part, Text) and part.text.strip():
            made.append(_text(part.text))
        elif isinstance(part, Blob):
            made.append(blob_block(part, pictures=how.pictures))
    return made


def _result(result: ToolResult, how: Conversion, ids: "_Ids") -> dict[str, JSON]:
    made: dict[str, JSON] = {
        "type": "tool_result",
        "tool_use_id": ids.of_result(result.call_id),
        "content": _content(result.parts, how) or [_text("(no output)")],
    }
    return {**made, "is_error": True} if result.failed else made


def _assistant(message: Message, how: Conversion, ids: "_Ids") -> list[dict[str, JSON]]:
    calls = {part.id: _call(part, ids) for part in message.parts if isinstance(part, ToolCall)}
    layout = thinking_only(kept_layout(message, how.key), how.refused, unsigned=how.unsigned)
    return rebuild(layout, message, calls)


def _call(call: ToolCall, ids: "_Ids") -> dict[str, JSON]:
    name = _NAME.sub("_", call.name)[:128] or "unknown"
    return {"type": "tool_use", "id": ids.of_call(call.id), "name": name, "input": dict(call.arguments)}


class _Ids:
    """Ids of calls, each once in a conversation: other services begin to count anew with every reply."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._last: dict[str, str] = {}  # what an id stands for until it is used again

    def of_call(self, call_id: str) -> str:
        made = plain = _call_id(call_id)
        number = 1
        while made in self._used:
            number += 1
            made = f"{plain[:56]}_{number}"
        self._used.add(made)
        self._last[call_id] = made
        return made

    def of_result(self, call_id: str) -> str:
        return self._last.get(call_id) or _call_id(call_id)


def _call_id(call_id: str) -> str:
    if _ID.fullmatch(call_id):
        return call_id
    from hashlib import sha1

    return f"call_{sha1(call_id.encode('utf-8', 'replace'), usedforsecurity=False).hexdigest()[:24]}"


def _text(text: str) -> dict[str, JSON]:
    return {"type": "text", "text": text}
