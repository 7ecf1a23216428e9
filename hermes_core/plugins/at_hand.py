"""The conversation whose slash command runs in this task: in one that several share, two may run at a time."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from hermes_core.errors import UserError
from hermes_core.kinds import Conversation
from hermes_core.types import Session

__all__ = ["at_hand", "typed_into"]

_AT_HAND: ContextVar[Conversation | None] = ContextVar("hermes_at_hand", default=None)


def at_hand(session: Session) -> Conversation:
    """Return the conversation a command was typed into. Raises UserError where none was, or into another session."""
    conversation = _AT_HAND.get()
    if conversation is None or conversation.session.id != session.id:
        raise UserError("This works only as a slash command, in the conversation that it is typed into.")
    return conversation


@contextmanager
def typed_into(conversation: Conversation) -> Iterator[None]:
    """Let what runs in this block, and the tasks begun in it, be a command of this conversation."""
    token = _AT_HAND.set(conversation)
    try:
        yield
    finally:
        _AT_HAND.reset(token)
