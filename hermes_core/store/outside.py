"""Which messages of a context hold what comes from outside: text that nobody here wrote, and that may hold orders."""

from collections.abc import Iterable, Sequence

from attrs import evolve

from hermes_core.types import Message, Meta, ToolResult

__all__ = ["carried", "is_untrusted", "marked", "outside"]

_MARK = {"hermes": {"untrusted": True}}  # in a message's meta, which providers never send


def is_untrusted(message: Message) -> bool:
    """Whether one message holds it: a result that says so, or a message that was made from such ones."""
    if message.meta and _has_mark(message.meta):
        return True
    return any(isinstance(part, ToolResult) and part.untrusted for part in message.parts)


def outside(messages: Iterable[Message]) -> bool:
    """Whether any message does."""
    return any(map(is_untrusted, messages))


def marked(message: Message) -> Message:
    """The message, known to be made from what comes from outside."""
    return message if is_untrusted(message) else evolve(message, meta={**message.meta, **_MARK})


def carried(before: Sequence[Message], after: Sequence[Message]) -> Sequence[Message]:
    """A context that takes the place of another: what was made from outside stays known as that."""
    if not after or outside(after) or not outside(before):
        return after
    return (marked(after[0]), *after[1:])


def _has_mark(meta: Meta) -> bool:
    own = meta.get("hermes")
    return isinstance(own, dict) and own.get("untrusted") is True
