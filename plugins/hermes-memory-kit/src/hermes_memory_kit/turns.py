"""What of a turn a memory looks at: the person's own words. What is quoted, or stands in a file, is none of theirs."""

import re
from collections.abc import Sequence

from hermes_core.types import Message, Text

__all__ = ["said", "statements"]

_SHORTEST, _LONGEST = 12, 600  # characters of a statement that is worth keeping
_ASKS = re.compile(r"[?？]\s*$|か。?\s*$|까요?\.?\s*$|吗。?\s*$")


def said(message: Message) -> str:
    """What a person wrote in a message; empty where it is not from them."""
    if message.role != "user" or message.untrusted or message.meta.get("hermes"):
        return ""
    return "\n".join(part.text for part in message.parts if isinstance(part, Text) and not part.quotes).strip()


def statements(messages: Sequence[Message]) -> list[str]:
    """What a person stated, a text for each message: no question, no command, nothing very short or long."""
    texts = [said(message) for message in messages]
    return [
        text
        for text in dict.fromkeys(texts)
        if _SHORTEST <= len(text) <= _LONGEST and not text.startswith("/") and not _ASKS.search(text)
    ]
