"""A history that every provider dialect accepts, whatever state the rows are in.

Rows are never rewritten. What a cut left behind is mended by added rows when the next turn opens; this function is
the second wall: it makes the same shape from any rows, for readers.
"""

from collections.abc import Iterable, Sequence

from attrs import evolve

from hermes_core.codec import dumps, message_to_json
from hermes_core.store.outside import by_person, by_plugin
from hermes_core.types import Message, Part, Role, Text, ToolCall, ToolResult

INTERRUPTED = "(This turn was interrupted before an answer was given.)"
NO_RESULT = (
    "The outcome of this call is unknown: it was cut off while it ran. It is not repeated on its own; check first."
)
NOT_RUN = "This call was not run: the turn was interrupted before it began."
CONTINUED = "(The conversation starts here.)"


def said(role: Role, text: str) -> Message:
    """Make a message of one text."""
    return Message(role=role, parts=(Text(text=text),))


def result_message(call_id: str, name: str, text: str) -> Message:
    """Make a tool message that says why there is no real result."""
    result = ToolResult(call_id=call_id, name=name, parts=(Text(text=text),), failed=True)
    return Message(role="tool", parts=(result,))


def valid(messages: Iterable[Message]) -> list[Message]:
    """Mend messages: roles alternate, plugins' words aside; a call has one result, after its reply; none is empty."""
    mended: list[Message] = []
    open_calls: dict[str, ToolCall] = {}
    results: dict[str, Message] = {}

    def settle() -> None:
        mended.extend(results.get(c.id) or result_message(c.id, c.name, NO_RESULT) for c in open_calls.values())
        open_calls.clear()
        results.clear()

    for row in messages:
        if row.role == "tool":
            for part in row.parts:
                if isinstance(part, ToolResult) and part.call_id in open_calls:
                    results.setdefault(part.call_id, evolve(row, parts=(part,)))
            continue
        settle()
        if not (parts := _own_parts(row)):
            continue
        untrusted = row.untrusted
        role: Role = "assistant" if row.role == "assistant" else "user"
        before = mended[-1].role if mended else "assistant"
        if role == "user" and before != "assistant" and not by_plugin(row):
            mended.append(said("assistant", INTERRUPTED))
        elif role == "assistant" and not mended:
            mended.append(said("user", CONTINUED))
        elif role == "assistant" and before == "assistant":
            first = mended.pop()
            parts, untrusted = (*first.parts, *parts), untrusted or first.untrusted
        same = parts == row.parts and role == row.role
        mended.append(row if same else evolve(row, role=role, parts=parts, untrusted=untrusted))
        open_calls.update({part.id: part for part in parts if isinstance(part, ToolCall)})
    settle()
    return mended


def misfit(before: Sequence[Message], after: Sequence[Message]) -> str:
    """Say why a context may not take another's place; empty when it may. It loses no request and invents no call."""
    if list(after) != valid(after):
        return "it is not valid for every provider: roles must alternate, and each call needs its one result"
    request, kept = (next((m for m in reversed(list(of)) if by_person(m)), None) for of in (before, after))
    if request is None or kept is None or _body(kept) != _body(request):
        return "the last thing the person said is not there, word for word"
    if strange := _calls(after) - _calls(before):
        return f"nobody made the call {min(strange)[1]!r}"
    if sum(map(len, map(_body, after))) >= sum(map(len, map(_body, before))):
        return "it is not smaller"
    return ""


def _body(message: Message) -> bytes:  # a byte says more of how many tokens there are than a character does
    return dumps(message_to_json(message)).encode()


def _calls(messages: Iterable[Message]) -> set[tuple[str, str]]:
    return {(part.id, part.name) for message in messages for part in message.parts if isinstance(part, ToolCall)}


def _own_parts(message: Message) -> tuple[Part, ...]:
    """Return what the role may hold: no results outside tool messages, calls in replies only, each id once."""
    seen: set[str] = set()
    parts: list[Part] = []
    for part in message.parts:
        if isinstance(part, ToolCall):
            if message.role != "assistant" or part.id in seen:
                continue
            seen.add(part.id)
        if not isinstance(part, ToolResult):
            parts.append(part)
    return tuple(parts)
