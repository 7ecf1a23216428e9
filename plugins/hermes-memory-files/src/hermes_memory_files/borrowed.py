"""Whether what a model wants to remember stands in what a tool gave it, and the person never said it.

A file in a folder may tell the agent what "the user" likes or allowed. The person is asked before that becomes one of
the things that every later session begins with. What a file says of itself, a port or a version, is kept unasked.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from hermes_core.control import SessionsBroker
from hermes_core.patterns import pattern
from hermes_core.types import JSON, Message, Session, Text, ToolCall, ToolResult, Verdict

__all__ = ["judge"]

_WINDOW = 200  # messages looked at
_SHARE = 0.6  # of the words of an entry, in what a tool gave, for it to be taken from there
_WORD = re.compile(r"[^\W_]{3,}")
_DIRECTS = pattern(
    r"(?i)\b(user|person|owner|always|never|must|should|from now on|approv\w*|allow\w*|permi\w*|agree\w*|consent\w*"
    r"|confirm\w*|without asking|trust\w*)\b|사용자|항상|절대|허락|승인|用户|永远|总是|批准|允许"
    r"|ユーザー|常に|必ず|許可|承認"
)


async def judge(sessions: SessionsBroker, session: Session, call: ToolCall) -> Verdict | None:
    """Ask for a person's yes where an entry about them, or about what is to be done, is not theirs."""
    entries = [text for text, user in _entries(call.arguments) if user or _DIRECTS.search(text)]
    if not entries:
        return None
    rows = [message for _, message in await sessions.read(session.owner, session.id, window=_WINDOW)]
    said = _words(_said(rows))
    given = [(part.name, _words(_texts(part.parts))) for m in rows for part in m.parts if isinstance(part, ToolResult)]
    for entry in entries:
        words = _words([entry])
        for tool, found in given:
            if tool != call.name and _share(words, found) >= _SHARE > _share(words, said):
                why = f"keeps for every later conversation what {tool} gave, and you did not say it: {entry[:200]}"
                return Verdict(outcome="ask", reason=why)
    return None


def _entries(arguments: Mapping[str, JSON]) -> Iterable[tuple[str, bool]]:
    """The texts that would be kept, each with whether it is about the person."""
    given = arguments.get("operations") or [arguments]
    user = arguments.get("target") == "user"
    for one in given if isinstance(given, list) else ():
        if isinstance(one, Mapping) and one.get("action", "add") != "remove" and isinstance(one.get("text"), str):
            yield one["text"], user


def _said(rows: Sequence[Message]) -> Iterable[str]:
    """What the person said themselves."""
    theirs = (m for m in rows if m.role == "user" and not m.untrusted and not m.meta.get("hermes"))
    return (part.text for message in theirs for part in message.parts if isinstance(part, Text) and not part.quotes)


def _texts(parts: Iterable[object]) -> Iterable[str]:
    return (part.text for part in parts if isinstance(part, Text))


def _words(texts: Iterable[str]) -> set[str]:
    return {word.casefold() for text in texts for word in _WORD.findall(text)}


def _share(words: set[str], there: set[str]) -> float:
    return len(words & there) / len(words) if words else 0.0
