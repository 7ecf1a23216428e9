"""What of a message are not the words of who sends it: what it quotes, what is attached to it."""

from collections.abc import Iterable

from attrs import evolve

from hermes_core.codec import plain_text
from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName
from hermes_core.types import Blob, Envelope, Message, Session, Text
from hermes_platform_gateway.rows.kept import rows_of

__all__ = ["marked", "quotes"]

_LOOKED_AT = 200  # messages of the conversation, in which our own words are found again
_ENOUGH = 200  # characters that are compared: services cut what is quoted


async def marked(ctx: PluginContext, envelope: Envelope, session: Session) -> Envelope:
    """The message, marked as from outside where it brings what somebody else wrote.

    A file is somebody else's; a voice is the sender's own. A quote is somebody else's unless the sender wrote all of
    it, or we said it in this very conversation, which knows where that came from.
    """
    message = envelope.message
    files = any(isinstance(part, Blob) and not part.media_type.startswith("audio/") for part in message.parts)
    theirs = files or quotes(message)
    if message.untrusted or not (theirs or (envelope.quote and not await _known(ctx, envelope, session))):
        return envelope
    return evolve(envelope, message=evolve(message, untrusted=True))


def quotes(message: Message) -> bool:
    """Whether lines of a message stand in it as a quotation, with ``>`` before them, as they do on every service."""
    return any(_has_quotation(part.text) for part in message.parts if isinstance(part, Text))


def _has_quotation(text: str) -> bool:
    return any(line.lstrip().startswith(">") for line in text.splitlines())


async def _known(ctx: PluginContext, envelope: Envelope, session: Session) -> bool:
    if envelope.quote_by == envelope.sender:
        return not _has_quotation(envelope.quote)  # of their own words, in which somebody else's stood
    if envelope.quote_by != envelope.account:
        return False
    if await rows_of(ctx).threads.is_own(session.owner, envelope, session.id):
        return True  # told of this conversation, in which the head of a job's message does not stand
    try:
        rows = await ctx.sessions.read(session.owner, session.id, window=_LOOKED_AT)
    except UnknownName:  # nothing was said in it yet
        return False
    return _said(envelope.quote, (message for _, message in rows))


def _said(quote: str, messages: Iterable[Message]) -> bool:
    """Whether one of our messages holds a quote; marks of form are the services' own."""
    words = _plain(quote)[:_ENOUGH]
    return bool(words) and any(words in _plain(plain_text(m.parts)) for m in messages if m.role == "assistant")


def _plain(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum())
