"""Which messages of a context hold what comes from outside: text that nobody here wrote, and that may hold orders."""

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Literal

from attrs import evolve

from hermes_core.types import Message, ToolResult

__all__ = ["by_person", "by_plugin", "carried", "outside", "result_of"]


def outside(messages: Iterable[Message]) -> bool:
    """Tell whether any message holds it, or was made from such ones."""
    return any(map(attrgetter("untrusted"), messages))


def by_plugin(message: Message, *ways: Literal["added", "sent_on", "stands"]) -> bool:
    """Tell whether a plugin said it: appended it, sent its turn on with it, or lets it stand for compacted messages."""
    marks = message.meta.get("hermes") or {}
    return message.role == "user" and any(way in marks for way in ways or ("added", "sent_on", "stands"))


def by_person(message: Message) -> bool:
    """Tell whether a person said it, or whoever the turn is for."""
    return message.role == "user" and not by_plugin(message)


def result_of(result: ToolResult) -> Message:
    """Return a result as the message that is stored."""
    return Message(role="tool", parts=(result,), untrusted=result.untrusted)


def carried(before: Sequence[Message], after: Sequence[Message]) -> Sequence[Message]:
    """Return a context that takes the place of another: what was made from outside stays known as that."""
    if not after or outside(after) or not outside(before):
        return after
    return (evolve(after[0], untrusted=True), *after[1:])
