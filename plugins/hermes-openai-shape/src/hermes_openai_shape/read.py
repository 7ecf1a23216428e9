"""Conversations in the shape of OpenAI's chat completions, read back: transcripts, and what was exported."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hermes_core.types import Message, Part, Reasoning, Role, Text, ToolCall, ToolResult

__all__ = ["Conversation", "conversations"]


class Conversation(NamedTuple):
    """One session as it was written out: what is known of it, and what was said. ``unread`` lines were none."""

    about: Mapping[str, Any]
    messages: Sequence[Message]
    unread: int


def conversations(lines: Iterable[str], name: str = "") -> Iterator[Conversation]:
    """Read one or more; a line with ``session`` begins each but a first one, whose id is ``name``.

    Lines that cannot be read are counted and passed over: a transcript may have been cut.
    """
    about: Mapping[str, Any] = {"id": name}
    rows: list[Mapping[str, Any]] = []
    unread, begun = 0, False
    for line in lines:
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            if not isinstance(row, dict):
                raise TypeError
        except (ValueError, TypeError, RecursionError):
            unread += 1
            continue
        if isinstance(row.get("session"), dict):
            if rows or begun:
                yield Conversation(about, _messages(rows), unread)
            about, rows, unread, begun = row["session"], [], 0, True
        else:
            rows.append(row)
    if rows or begun:
        yield Conversation(about, _messages(rows), unread)


def _messages(rows: Sequence[Mapping[str, Any]]) -> Sequence[Message]:
    found: list[Message] = []
    for row in rows:
        role = row.get("role")
        if role == "tool":
            call, name = str(row.get("tool_call_id", "")), str(row.get("name", ""))
            parts: tuple[Part, ...] = (ToolResult(call_id=call, name=name, parts=_texts(row.get("content"))),)
        elif role in ("user", "assistant"):
            parts = (*_thought(row), *_texts(row.get("content")), *_calls(row.get("tool_calls")))
        else:
            continue  # the prompt: a session that is taken up has one of its own
        if parts:
            said: Role = "tool" if role == "tool" else "assistant" if role == "assistant" else "user"
            found.append(Message(role=said, parts=parts, untrusted=role == "tool"))
    return found


def _texts(content: object) -> tuple[Text, ...]:
    if isinstance(content, str):
        return (Text(text=content),) if content else ()
    found = []
    for piece in content if isinstance(content, list) else ():
        if isinstance(piece, dict) and piece.get("type") == "text":
            found.append(Text(text=str(piece.get("text", ""))))
        elif isinstance(piece, dict):
            named = piece.get("file")
            found.append(Text(text=f"[{named.get('filename', 'file') if isinstance(named, dict) else 'a picture'}]"))
    return tuple(found)


def _thought(row: Mapping[str, Any]) -> tuple[Reasoning, ...]:
    thought = row.get("reasoning_content")
    return (Reasoning(text=thought),) if isinstance(thought, str) and thought else ()


def _calls(said: object) -> tuple[ToolCall, ...]:
    found = []
    for call in said if isinstance(said, list) else ():
        try:
            arguments = json.loads(call["function"]["arguments"] or "{}")
            kept = arguments if isinstance(arguments, dict) else {}
            found.append(ToolCall(id=str(call["id"]), name=str(call["function"]["name"]), arguments=kept))
        except (KeyError, TypeError, ValueError, RecursionError):
            continue
    return tuple(found)
