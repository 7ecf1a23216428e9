"""Sessions by name, lists of them, and what happened in them: the reading side of the store."""

import json
import time

from attrs import frozen

from hermes_core.errors import UnknownName, UserError
from hermes_core.store.codec import clean, message_from_json, plain_text
from hermes_core.store.engine import Row, Transaction
from hermes_core.types import HistoryEntry, Principal, Session, ToolResult, Usage

USAGE = ("input", "output", "cache_read", "cache_write", "reasoning", "calls", "cost")
_SESSION = ("id", "origin", "parent", "title", "cwd", "provider", "model", "created")
_COUNTS = ("messages", "tool_calls", "updated")
_CALL = ("session_id", "turn_id", "call_id", "name", "outcome", "started", "seconds", "repeats")
LONGEST_TITLE = 100
_PREVIEW = 80
_END = 2**62


@frozen(kw_only=True)
class SessionRow:
    """A session as lists show it; ``preview`` is the start of what the person said first."""

    session: Session
    messages: int
    tool_calls: int
    updated: float
    usage: Usage
    preview: str


@frozen(kw_only=True)
class UsageRow:
    """What one model was used for on one day (``YYYY-MM-DD``, local time); ``calls`` are model calls."""

    day: str
    provider: str
    model: str
    turns: int
    calls: int
    usage: Usage


def owner_number(tx: Transaction, owner: Principal) -> int:
    """The number rows name an owner by; -1, which no row has, for one who owns nothing yet."""
    row = tx.row("owner_find", profile=clean(owner.profile), person=clean(owner.person))
    return int(row[0]) if row else -1


def create(tx: Transaction, session: Session) -> None:
    """Store a new session. Raises UserError when the id is taken."""
    if tx.row("session_facts", id=session.id):
        raise UserError(f"There is a session {session.id} already.")
    number = owner_number(tx, session.owner)
    if number < 0:
        number = tx.add("owner_add", profile=clean(session.owner.profile), person=clean(session.owner.person))
    names = ("id", "origin", "parent", "cwd", "provider", "model")
    created = session.created or time.time()
    values = {name: clean(getattr(session, name)) for name in names}
    tx.add("session_add", **values, title=_title(session.title), owner=number, created=created, updated=created)


def get(tx: Transaction, session_id: str, owner: Principal) -> Session:
    """One session of an owner. Raises UnknownName."""
    row = tx.row("session_get", id=clean(session_id), owner=owner_number(tx, owner))
    if row is None:
        raise UnknownName("session", session_id)
    return _session(row)


def find(tx: Transaction, words: str, owner: Principal) -> Session:
    """Exact id, ``latest``, the start of an id, a title, the start of a title. Raises UnknownName, UserError."""
    words, number = clean(words).strip(), owner_number(tx, owner)
    if words == "latest":
        if row := tx.row("session_latest", owner=number, limit=1):
            return _session(row)
        raise UnknownName("session", words, hint="There is no session yet.")
    named = [_session(row) for row in tx.rows("sessions_named", owner=number, words=words)]
    folded = words.casefold()
    tests = (
        [s for s in named if s.id == words],
        [s for s in named if s.id.startswith(words)],
        [s for s in named if s.title.casefold() == folded],
        [s for s in named if s.title.casefold().startswith(folded)],
    )
    matches = next((found for found in tests if found), []) if words else []
    if not matches:
        raise UnknownName("session", words, [s.title for s in named[:20]], hint="See: hermes sessions list")
    if len(matches) > 1:
        shown = ", ".join(f"{s.id} {s.title}".strip() for s in matches[:5])
        raise UserError(f"{words!r} could be {len(matches)} sessions: {shown}.", hint="Give more of the id or title.")
    return matches[0]


def rows(tx: Transaction, owner: Principal, limit: int, origin: str) -> list[SessionRow]:
    """Sessions of an owner, last used first."""
    found = tx.rows("sessions_list", owner=owner_number(tx, owner), limit=limit, origin=clean(origin))
    return [
        SessionRow(
            session=_session(row[:10]),
            preview=_preview(row[20]),
            usage=_usage(row[13:20]),
            **dict(zip(_COUNTS, row[10:13], strict=True)),
        )
        for row in found
    ]


def unused(tx: Transaction, owner: Principal, before: float) -> list[str]:
    """The ids of sessions last used before an instant."""
    return [str(row[0]) for row in tx.rows("sessions_before", owner=owner_number(tx, owner), before=before)]


def rename(tx: Transaction, session_id: str, title: str, owner: Principal) -> None:
    """Change a title. Raises UnknownName, and UserError when another session has it."""
    get(tx, session_id, owner)
    number, title = owner_number(tx, owner), _title(title)
    taken = [row[0] for row in tx.rows("session_titled", owner=number, title=title) if row[0] != session_id]
    if title and taken:
        raise UserError(f"Session {taken[0]} has the title {title!r} already.", hint="Choose another title.")
    tx.change("session_rename", key=session_id, title=title, owner=number)


def window(tx: Transaction, owner: Principal, session_id: str, around: int, size: int) -> list[Row]:
    """Messages with their ids around one, or the last ones. Raises UnknownName."""
    get(tx, session_id, owner)
    mine = {"session_id": session_id, "owner": owner_number(tx, owner)}
    earlier = tx.rows("messages_before", **mine, before=around or _END, limit=size)[::-1]
    return earlier + (tx.rows("messages_from", **mine, start=around, limit=size + 1) if around else [])


def calls(tx: Transaction, owner: Principal, session_id: str, name: str, limit: int) -> list[HistoryEntry]:
    """Tool calls of an owner, newest first."""
    values = {"owner": owner_number(tx, owner), "name": clean(name), "limit": limit}
    if session_id:
        found = tx.rows("calls_of_session", **values, session_id=clean(session_id))
    else:
        found = tx.rows("calls_list", **values)
    return [
        HistoryEntry(**dict(zip(_CALL, row[:8], strict=True)), arguments=json.loads(row[8]), output=_output(row[9]))
        for row in found
    ]


def usage(tx: Transaction, owner: Principal, since: float) -> list[UsageRow]:
    """Usage of an owner by day, provider and model, newest day first."""
    found = tx.rows("usage_by_day", owner=owner_number(tx, owner), since=since)
    return [
        UsageRow(day=day, provider=provider, model=model, turns=turns, calls=used[5], usage=_usage(tuple(used)))
        for day, provider, model, turns, *used in found
    ]


def _session(row: Row) -> Session:
    profile, person, *values = row
    return Session(owner=Principal(profile=profile, person=person), **dict(zip(_SESSION, values, strict=True)))


def _usage(row: Row) -> Usage:
    return Usage(**dict(zip(USAGE, row, strict=True)))


def _title(title: str) -> str:
    return " ".join(clean(title).split())[:LONGEST_TITLE]


def _preview(body: str | None) -> str:
    text = plain_text(message_from_json(json.loads(body)).parts) if body else ""
    short = " ".join(text[: _PREVIEW * 4].split())
    return short if len(short) <= _PREVIEW else f"{short[: _PREVIEW - 1]}…"


def _output(body: str | None) -> str:
    results = message_from_json(json.loads(body)).parts if body else ()
    return "".join(plain_text(part.parts) for part in results if isinstance(part, ToolResult))
