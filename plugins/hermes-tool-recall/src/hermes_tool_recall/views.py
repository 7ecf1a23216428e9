"""Looking at sessions without searching: recent ones, one of them, or around one message."""

from hermes_core.errors import ToolError, UnknownName, UserError
from hermes_core.types import Session
from hermes_tool_recall.lines import clip, dialogue, heading, message_line, page, whole
from hermes_tool_recall.watched import Watched

_KNOWN = 200  # sessions looked through for a name
_MEANT = 1_200  # characters of a message on its line
_PAGE, _REST = 8_000, 3_000  # characters of a longer one on a page, and of all those around it
_WHOLE = 15  # messages on each side when a session is read and no window matters


async def browse(sessions: Watched, current: Session, *, limit: int) -> str:
    """The recent sessions but this one, each with its last words."""
    recent = await sessions.recent(current.owner, limit=limit + 10)
    others = [s for s in recent if s.id != current.id and s.origin != "child"][:limit]
    if not others:
        return "There are no earlier conversations."
    lines = [f"The last {len(others)} conversations, newest first. Read one with session=ID."]
    for session in others:
        lines.append(heading(session))
        last = await sessions.read(current.owner, session.id, window=2)
        lines.extend(message_line(n, m, width=160) for n, m in last[-1:])
    return page(lines)


async def scroll(sessions: Watched, current: Session, words: str, *, around: int, window: int, number: int = 1) -> str:
    """One session: around a message, or its last messages. Raises ToolError when there is no such session.

    The message meant is shown whole, as far as it fits; ``number`` is the page of it.
    """
    session = await pick(sessions, current, words)
    reach = window if around else max(window, _WHOLE)
    messages = await sessions.read(current.owner, session.id, around=around, window=reach)
    if not messages:
        where = f"message #{around} in" if around else "messages in"
        return f"There are no {where} {heading(session)}."
    first, last = messages[0][0], messages[-1][0]
    meant = next((message for at, message in messages if at == around), None)
    if meant and len(text := whole(meant)) > (_MEANT if number == 1 else 0):
        pages = -(-len(text) // _PAGE)
        part = text[(number - 1) * _PAGE : number * _PAGE]
        if not part:
            return f"#{around} has {pages} pages."
        more = f" Its next page: session={session.id} around={around} page={number + 1}." if number < pages else ""
        others = [row for row in messages if row[0] != around]
        lines = dialogue(others, width=max(40, (_REST - 200) // len(others)) if others else 0)
        told = [*lines, f"> #{around} {meant.role}, page {number} of {pages}:", part]
        return "\n".join([heading(session), *told, f"Earlier: around={first}. Later: around={last}.{more}"])
    return page(
        [
            heading(session),
            *dialogue(messages, around=around, width=_MEANT),
            f"Earlier: session={session.id} around={first}. Later: around={last}.",
        ]
    )


async def pick(sessions: Watched, current: Session, words: str) -> Session:
    """The session meant: this one for ``this`` and for nothing, an id, its beginning, a title, or ``latest``.

    Raises ToolError when none or several are meant.
    """
    wanted = words.strip()
    if wanted in ("", "this", current.id):
        return current
    recent = [s for s in await sessions.recent(current.owner, limit=_KNOWN) if s.id != current.id]
    if wanted.casefold() in ("latest", "last") and recent:
        return recent[0]
    for found in (
        [s for s in recent if s.id == wanted],
        [s for s in recent if s.title.casefold() == wanted.casefold()],
        [s for s in recent if s.id.startswith(wanted)],
        [s for s in recent if wanted.casefold() in s.title.casefold()],
    ):
        if len(found) == 1:
            return found[0]
        if found:
            listed = "\n".join(f"- {heading(s)}" for s in found[:10])
            raise ToolError(f"{len(found)} conversations match {clip(wanted, 60)!r}; say which id:\n{listed}")
    return await _old(sessions, current, wanted)


async def _old(sessions: Watched, current: Session, wanted: str) -> Session:
    """One that is too old to be in the list, or hidden: asking for its messages tells whether its id exists."""
    missing = ToolError(
        f"There is no conversation named {clip(wanted, 60)!r}.", hint="Call recall without arguments to list them."
    )
    try:
        return await sessions.find(current.owner, wanted)
    except UnknownName:
        pass
    except UserError as error:
        raise ToolError(error.text, hint=error.hint) from None
    try:
        messages = await sessions.read(current.owner, wanted, window=1)
    except UserError:
        raise missing from None
    if not messages:
        raise missing
    return Session(id=wanted, origin="earlier", owner=current.owner)
