"""An earlier conversation: what it was called, and how it ended."""

import time

from hermes_core.control import SessionsBroker
from hermes_core.errors import HermesError
from hermes_core.types import Message, Principal, Session, Text
from hermes_tool_references.found import Found, Refused, one_line
from hermes_tool_references.parsing import Reference

_KNOWN = 200  # sessions looked through for a name
_READ = 40  # messages
_SHOWN = 20
_WIDTHS = {"user": 600, "assistant": 1200}


async def recap(wanted: Reference, sessions: SessionsBroker, owner: Principal) -> Found:
    """The last exchanges of a session of the owner's. Raises Refused when none, or several, are meant."""
    session = await _meant(wanted.value, sessions, owner)
    try:
        messages = await sessions.read(owner, session.id, window=_READ)
    except HermesError as error:
        raise Refused(error.text.rstrip(".")) from None
    said = [(number, message) for number, message in messages if message.role in _WIDTHS and _words(message)]
    lines = [f"#{number} {message.role}: {_clipped(message)}" for number, message in said[-_SHOWN:]]
    name = one_line(session.title or "untitled", 100)
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(session.created)) if session.created > 0 else "unknown time"
    return Found(
        label=f"session {session.id}",
        title=f"Session {session.id} “{name}”, begun {when}; its last exchanges",
        text="\n".join(lines) or "(nothing was said)",
        untrusted=any(message.untrusted for _, message in messages),
    )


async def _meant(value: str, sessions: SessionsBroker, owner: Principal) -> Session:
    profile, slash, name = value.partition("/")
    if slash and profile != owner.profile:
        raise Refused(f"only sessions of the profile {owner.profile} can be read here")
    wanted = (name if slash else value).strip()
    recent = await sessions.recent(owner, limit=_KNOWN)
    for found in (
        [s for s in recent if s.id == wanted],
        [s for s in recent if s.title and s.title.casefold() == wanted.casefold()],
        [s for s in recent if len(wanted) >= 4 and s.id.startswith(wanted)],
        [s for s in recent if wanted.casefold() in s.title.casefold()],
    ):
        if len(found) == 1:
            return found[0]
        if found:
            raise Refused(f"{len(found)} sessions match; say which id: {', '.join(s.id for s in found[:5])}")
    raise Refused("there is no such session")


def _words(message: Message) -> str:
    """What was said, without what it quoted."""
    return " ".join(part.text for part in message.parts if isinstance(part, Text) and not part.quotes).strip()


def _clipped(message: Message) -> str:
    text, width = " ".join(_words(message).split()), _WIDTHS[message.role]
    return text if len(text) <= width else f"{text[: width * 3 // 4]} … {text[-width // 4 :]}"
