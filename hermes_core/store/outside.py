"""Which messages of a context hold what comes from outside: text that nobody here wrote, and that may hold orders."""

from collections.abc import Iterable, Sequence

from attrs import evolve

from hermes_core.types import Message, ToolResult

__all__ = ["by_person", "carried", "outside", "result_of", "sent_on"]


def outside(messages: Iterable[Message]) -> bool:
    """Whether any message holds it, or was made from such ones."""
    return any(message.untrusted for message in messages)


def sent_on(message: Message) -> bool:
    """Whether it is what a plugin said to a model whose turn might not end yet."""
    return message.role == "user" and "sent_on" in (message.meta.get("hermes") or {})


def by_person(message: Message) -> bool:
    """Whether a person said it, or whoever the turn is for."""
    return message.role == "user" and not sent_on(message)


def result_of(result: ToolResult) -> Message:
    """A result as the message that is stored."""
    return Message(role="tool", parts=(result,), untrusted=result.untrusted)


def carried(before: Sequence[Message], after: Sequence[Message]) -> Sequence[Message]:
    """A context that takes the place of another: what was made from outside stays known as that."""
    if not after or outside(after) or not outside(before):
        return after
    return (evolve(after[0], untrusted=True), *after[1:])
