"""A message on its way in."""

import os

from attrs import evolve

from hermes_core.codec import clean
from hermes_core.errors import UserError
from hermes_core.types import Envelope, Message, Principal, Text

__all__ = ["enveloped", "instructed", "sound"]

_LONGEST = 10_000_000  # characters of one message; no model reads more


def sound(message: Message) -> Message:
    """Return what a person said, as it can be stored. Raises UserError for what no model reads."""
    if (size := sum(len(part.text) for part in message.parts if isinstance(part, Text))) > _LONGEST:
        text = f"The message has {size:,} characters; at most {_LONGEST:,} are taken."
        raise UserError(text, hint="Save it in a file, and say where it is.")
    parts = tuple(evolve(part, text=clean(part.text)) if isinstance(part, Text) else part for part in message.parts)
    return message if parts == tuple(message.parts) else evolve(message, parts=parts)


def instructed(message: Message, system: str) -> Message:
    """Return what a person said, below what their program says now of how to answer."""
    words = Text(text=f"<instructions>\n{system}\n</instructions>\n\n")
    return evolve(message, parts=(words, *message.parts))


def enveloped(
    message: str | Message, chat: str, platform: str, owner: Principal, event: str = "", account: str = ""
) -> Envelope:
    """Return what a program says, as an incoming message. Without an ``event`` it is one that never came before."""
    said = message if isinstance(message, Message) else Message(role="user", parts=(Text(text=message),))
    event = event or os.urandom(16).hex()
    return Envelope(platform=platform, account=account, event_id=event, chat=chat, sender=owner.person, message=said)
