"""What a message becomes for one platform: messages that it takes, each with a receipt of its own."""

from attrs import evolve

from hermes_core.kinds import Platform
from hermes_core.types import Blob, Buttons, Feature, Message, Part, Text
from hermes_platform_gateway.outward.split import split_text

__all__ = ["REPEATED", "is_text", "marked", "pieces_of", "said", "text_of"]

REPEATED = "(may be repeated)"
_ROOM = len(REPEATED) + 1


def pieces_of(message: Message, platform: Platform) -> list[Message]:
    """The messages a platform is sent: text in pieces that fit, the buttons with its last one, each file alone.

    Every piece leaves room for the mark of what may be repeated. Files for a platform without Feature.MEDIA are named
    in words. Raises ValueError when the platform's limit is hopeless.
    """
    files = [part for part in message.parts if isinstance(part, Blob)]
    texts = [text_of(message)]
    if files and Feature.MEDIA not in platform.features:
        texts += [f"({blob.name or 'A file'} is not sent: {platform.name} takes no files.)" for blob in files]
        files = []
    text = "\n\n".join(filter(str.strip, texts))
    limit = platform.limit - _ROOM if platform.limit >= 4 * _ROOM else platform.limit
    pieces = [said(piece) for piece in split_text(text, limit, platform.length)] if text.strip() else []
    buttons = [part for part in message.parts if isinstance(part, Buttons)]
    if pieces and Feature.BUTTONS in platform.features:
        pieces[-1] = said(text_of(pieces[-1]), *buttons)
    return [*pieces, *(Message(role="assistant", parts=(blob,)) for blob in files)]


def marked(piece: Message, platform: Platform) -> Message:
    """A piece that says of itself that it may have been there before, as far as it has room for that."""
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


def is_text(piece: Message) -> bool:
    """Whether a piece can be edited into a message: it holds no file."""
    return not any(isinstance(part, Blob) for part in piece.parts)
