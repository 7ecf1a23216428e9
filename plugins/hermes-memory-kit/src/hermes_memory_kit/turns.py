"""What of a turn a memory looks at: the person's own words. What is quoted, or stands in a file, is none of theirs."""

import re
from collections.abc import Callable, Sequence

from hermes_core.types import Message, Text

__all__ = ["Looks", "said", "spoken", "statements"]

_SHORTEST, _LONGEST = 12, 600  # characters of a statement that is worth keeping
_SESSIONS = 1_000  # of which it is known in this process what was looked at last
_ASKS = re.compile(r"[?？]\s*$|か。?\s*$|까요?\.?\s*$|吗。?\s*$")


def said(message: Message) -> str:
    """What a person wrote in a message; empty where it is not from them."""
    if message.role != "user" or message.untrusted or message.meta.get("hermes"):
        return ""
    return "\n".join(part.text for part in message.parts if isinstance(part, Text) and not part.quotes).strip()


def spoken(message: Message, masked: Callable[[str], str]) -> str:
    """What a person wrote, or a model answered, for a model that takes facts out of it; secrets are ``masked``."""
    text = said(message)
    if message.role == "assistant":
        text = "\n".join(part.text for part in message.parts if isinstance(part, Text))
    return masked(text).strip()


def statements(messages: Sequence[Message]) -> list[str]:
    """What a person stated, a text for each message: no question, no command, nothing very short or long."""
    texts = [said(message) for message in messages]
    return [
        text
        for text in dict.fromkeys(texts)
        if _SHORTEST <= len(text) <= _LONGEST and not text.startswith("/") and not _ASKS.search(text)
    ]


class Looks:
    """What of each session was looked at in this process: a memory is given all messages of it after every turn.

    What was looked at is not looked at again: something that was forgotten meanwhile would come back. A look that was
    cut off is had again with the next turn.
    """

    def __init__(self) -> None:
        self._seen: dict[str, str] = {}

    def new(self, session_id: str, messages: Sequence[Message]) -> Sequence[Message]:
        """Return the messages that were not looked at; of a session that is new to this process its last turn."""
        theirs = [at for at, message in enumerate(messages) if said(message)]
        if not theirs:
            return ()
        begin, last = theirs[-1], self._seen.get(session_id)
        for at in reversed(theirs):
            if said(messages[at]) == last:
                return messages[begin:]
            begin = at
        return messages[theirs[-1] :]

    def looked(self, session_id: str, messages: Sequence[Message]) -> None:
        """Note that all of these were looked at."""
        if theirs := [text for message in messages if (text := said(message))]:
            self._seen.pop(session_id, None)
            self._seen[session_id] = theirs[-1]
            if len(self._seen) > _SESSIONS:
                del self._seen[next(iter(self._seen))]
