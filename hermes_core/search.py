"""What of a message can be found by its words."""

from collections.abc import Sequence

from hermes_core.codec import canonical, plain_text
from hermes_core.types import Message, Part, Text, ToolCall, ToolResult
from hermes_fulltext import words

__all__ = ["index_words", "searchable"]


def searchable(parts: Sequence[Part]) -> str:
    """Return what of a message can be found: its text, calls with their arguments, and results; not the thinking."""
    texts = []
    for part in parts:
        if isinstance(part, Text):
            texts.append(part.text)
        elif isinstance(part, ToolCall):
            texts.append(f"{part.name} {canonical(part.arguments)}")
        elif isinstance(part, ToolResult):
            texts.append(f"{part.name} {plain_text(part.parts)}")
    return "\n".join(texts)


def index_words(message: Message, owner: int) -> str:
    """Return a stored message as the index gets it. Always of the stored one: removal must repeat what was added."""
    return words.index_words(searchable(message.parts), owner)
