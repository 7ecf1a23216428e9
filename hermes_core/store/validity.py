"""A history that every provider dialect accepts, whatever state the rows are in.

Rows are never rewritten. What a cut left behind is mended by added rows when the next turn opens; this function is
the second wall: it makes the same shape from any rows, for readers.
"""

from collections.abc import Iterable

from attrs import evolve

from hermes_core.types import Message, Part, Text, ToolCall, ToolResult

INTERRUPTED = "(This turn was interrupted before an answer was given.)"
NO_RESULT = (
    "The outcome of this call is unknown: Hermes stopped while it ran. It is not repeated on its own; check first."
)
NOT_RUN = "This call was not run: the turn was interrupted before it began."
CONTINUED = "(The conversation starts here.)"


def said(role: str, text: str) -> Message:
    """A message of one text."""
    return Message(role=role, parts=(Text(text=text),))  # type: ignore[arg-type]


def result_message(call_id: str, name: str, text: str) -> Message:
    """A tool message that says why there is no real result."""
    result = ToolResult(call_id=call_id, name=name, parts=(Text(text=text),), failed=True)
    return Message(role="tool", parts=(result,))


def valid(messages: Iterable[Message]) -> list[Message]:
    """Roles alternate; every call has one result, right after its reply and in its order; no message is empty."""
    mended: list[Message] = []
    open_calls: dict[str, ToolCall] = {}
    results: dict[str, Message] = {}

    def settle() -> None:
        mended.extend(results.get(c.id) or result_message(c.id, c.name, NO_RESULT) for c in open_calls.values())
        open_calls.clear()
        results.clear()

    for message in messages:
        if message.role == "tool":
            for part in message.parts:
                if isinstance(part, ToolResult) and part.call_id in open_calls:
                    results.setdefault(part.call_id, evolve(message, parts=(part,)))
            continue
        settle()
        if not message.parts:
            continue
        if message.role == "assistant":
            reply = _reply(message, mended)
            open_calls.update({part.id: part for part in reply.parts if isinstance(part, ToolCall)})
        else:
            if mended and mended[-1].role != "assistant":
                mended.append(said("assistant", INTERRUPTED))
            mended.append(message if message.role == "user" else evolve(message, role="user"))
    settle()
    return mended


def _reply(message: Message, mended: list[Message]) -> Message:
    """Add an assistant message: calls once each, after something it answers, joined with a reply just before it."""
    seen: set[str] = set()
    parts: list[Part] = []
    for part in message.parts:
        if isinstance(part, ToolCall):
            if part.id in seen:
                continue
            seen.add(part.id)
        parts.append(part)
    if len(parts) < len(message.parts):
        message = evolve(message, parts=tuple(parts))
    if not mended:
        mended.append(said("user", CONTINUED))
    if mended[-1].role == "assistant":
        message = evolve(message, parts=(*mended.pop().parts, *parts))
    mended.append(message)
    return message
