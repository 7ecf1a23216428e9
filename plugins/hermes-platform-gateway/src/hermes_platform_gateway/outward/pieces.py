"""What a message becomes for one platform: messages that it takes, each with a receipt of its own."""

from attrs import evolve

from hermes_core.kinds import Platform
from hermes_core.types import Blob, Buttons, Feature, Location, Message, Part, Poll, Text
from hermes_platform_gateway.outward.split import split_text

__all__ = ["REPEATED", "is_text", "marked", "pieces_of", "said", "text_of"]

REPEATED = "(may be repeated)"
_ROOM = len(REPEATED) + 1


def pieces_of(message: Message, platform: Platform) -> list[Message]:
    """The messages a platform is sent: text in pieces that fit, the buttons with its last one, each file alone.

    Every piece leaves room for the mark of what may be repeated. For a platform without Feature.MEDIA the words of a
    file stand for it, or its name. Raises ValueError when the platform's limit is hopeless.
    """
    blobs = [part for part in message.parts if isinstance(part, Blob)]
    told = [part for part in message.parts if isinstance(part, Poll | Location) and not _alone(part, platform)]
    words = [part for part in message.parts if isinstance(part, Text) and not isinstance(part, Poll | Location)]
    texts = ["".join(part.text for part in words), *(part.text for part in told)]
    alone: list[Part] = [part for part in message.parts if _alone(part, platform)]
    if Feature.MEDIA in platform.features:
        alone = [*blobs, *alone]
    else:
        there = f"is not sent: {platform.name} takes no files.)"
        texts += [blob.words or f"({blob.name or 'A file'} {there}" for blob in blobs]
    text = "\n\n".join(filter(str.strip, texts))
    limit = platform.limit - _ROOM if platform.limit >= 4 * _ROOM else platform.limit
    pieces = [said(piece) for piece in split_text(text, limit, platform.length)] if text.strip() else []
    buttons = [part for part in message.parts if isinstance(part, Buttons)]
    if pieces and Feature.BUTTONS in platform.features:
        pieces[-1] = said(text_of(pieces[-1]), *buttons)
    return [*pieces, *(Message(role="assistant", parts=(part,)) for part in alone)]


def marked(piece: Message, platform: Platform) -> Message:
    """A piece that says of itself that it may have been there before, as far as it has room for that."""
    if any(_alone(part, platform) for part in piece.parts):
        return piece
    text = f"{REPEATED}\n{text_of(piece)}".rstrip()
    if platform.limit and platform.length(text) > platform.limit:
        return piece
    return evolve(piece, parts=(Text(text=text), *(part for part in piece.parts if not isinstance(part, Text))))


def said(text: str, *more: Part) -> Message:
    """A message of Hermes."""
    return Message(role="assistant", parts=(Text(text=text), *more))


def text_of(message: Message) -> str:
    """The words of a message."""
    return "".join(part.text for part in message.parts if isinstance(part, Text))


def _alone(part: Part, platform: Platform) -> bool:
    """Whether a part is a message of its own there, and no words."""
    wanted = {Poll: Feature.POLLS, Location: Feature.LOCATIONS}.get(type(part))
    return wanted is not None and wanted in platform.features


def is_text(piece: Message) -> bool:
    """Whether a piece can be edited into a message: it holds no file, poll or place."""
    return not any(isinstance(part, Blob | Poll | Location) for part in piece.parts)
