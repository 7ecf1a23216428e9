"""Which pictures of a conversation nobody has put into words yet. Looked at before each model call, so it is cheap."""

from collections.abc import Sequence
from itertools import takewhile

from hermes_core.types import Blob, Message, ToolResult

__all__ = ["is_picture", "new_pictures"]

_MOST = 8  # pictures described before one answer; what is beyond is left to the model's own words for a file


def new_pictures(messages: Sequence[Message]) -> list[Blob]:
    """Return the pictures since the last reply of the model: those before it were put into words then."""
    fresh = list(takewhile(lambda message: not _is_done_with(message), reversed(messages)))
    return [picture for message in reversed(fresh) for picture in _pictures(message)][:_MOST]


def _is_done_with(message: Message) -> bool:
    ours = message.meta.get("hermes")  # a request that is made again has the words of the first time
    return message.role == "assistant" or (isinstance(ours, dict) and ours.get("added") == "tool/vision")


def _pictures(message: Message) -> list[Blob]:
    found: list[Blob] = []
    for part in message.parts:
        inner = part.parts if isinstance(part, ToolResult) else (part,)
        found += [one for one in inner if isinstance(one, Blob) and is_picture(one)]
    return found


def is_picture(blob: Blob) -> bool:
    """Tell whether a file is a picture, by its type."""
    return blob.media_type.startswith("image/")
