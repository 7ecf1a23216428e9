"""Messages and numbers in words."""

from hermes_core.errors import UserError
from hermes_core.types import Message, Text

__all__ = ["cut", "number", "short", "whole"]


def cut(text: str, most: int) -> str:
    """A text on one line; where it is too long it ends with …, between two words if it has any."""
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    head = line[: most - 1]
    return f"{head.rpartition(' ')[0] or head}…"


def whole(message: Message) -> str:
    """What was said in a message."""
    return "\n\n".join(part.text for part in message.parts if isinstance(part, Text)).strip()


def short(message: Message, most: int = 200) -> str:
    """The same on one line."""
    return cut(whole(message), most)


def number(rest: str, usual: int) -> int:
    """The number that was typed. Raises UserError for one that is none of 1 to 999."""
    if rest and not (rest.isdecimal() and 0 < int(rest) < 1000):
        raise UserError(f"{rest!r} is no number of 1 to 999.")
    return int(rest or usual)
