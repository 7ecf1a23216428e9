"""Sessions by name, lists of them, what happened in them, and their end: the half of the store that looks back."""

import json
import sqlite3
import time
from collections.abc import Callable, Container, Coroutine
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeAlias, TypeVar

from hermes_core.codec import clean, message_from_json, plain_text
from hermes_core.database import READ, WRITE, Begin, Database, Transaction, made
from hermes_core.errors import UnknownName, UserError
from hermes_core.store.leases import alive, check_free
from hermes_core.store.search import index_words, phrases_of, searchable, snippet
from hermes_core.store.validity import said
from hermes_core.types import HistoryEntry, Hit, Message, Principal, Role, Session, SessionRow, ToolResult, Usage
from hermes_core.values import frozen

S = TypeVar("S", bound="Stored")
T = TypeVar("T")
P = ParamSpec("P")
Work: TypeAlias = Callable[Concatenate[S, Transaction, P], T]
Step: TypeAlias = Callable[Concatenate[S, P], Coroutine[object, object, T]]
LONGEST_TITLE = 100
_PREVIEW = 80
_END = 2**62


@frozen(kw_only=True)
class LastTurn:
    """How far the last turn of a session came: ``open``, ``done``, ``failed`` or ``interrupted``."""

    state: str
    error: str
    answer: str
    provider: str
    model: str
    started: float
    ended: float
    usage: Usage


class Stored(Protocol):
    """What lies in the database of an engine."""

    _engine: Database


def transaction(begin: Begin = WRITE, *, long: bool = False) -> Callable[[Work[S, P, T]], Step[S, P, T]]:
    """Make a method that works in a transaction one to await: it runs in one of its own, again if need be.

    One that writes is alone with the session that an argument names first (an id, a Session, a Turn).
    """

    def decorate(work: Work[S, P, T]) -> Step[S, P, T]:
        @wraps(work)
        async def run(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
            def unit(tx: Transaction) -> T:
                if tx.server and begin == WRITE and (name := _subject(*args, kwargs.get("session_id"))):
                    tx.alone(name)
                return work(self, tx, *args, **kwargs)

            return await self._engine.run(unit, begin, long=long)

        return run

    return decorate


class Sessions:
    """Every method is one transaction unless it says otherwise, sees what its owner may see, and raises StoreError."""

    def __init__(self, engine: Database) -> None:
        self._engine = engine

    @transaction()
    def create_session(self, tx: Transaction, session: Session) -> None:
        """Store a new session. Raises UserError when the id is taken."""
        self._create(tx, session)

    def _create(self, tx: Transaction, session: Session) -> None:
        if tx.row("session_facts", id=session.id):
            raise UserError(f"The name {session.id} cannot be used here.", hint="Choose another one.")
        number, created = owner_row(tx, session.owner), session.created or time.time()
        values = {
            name: clean(getattr(session, name)) for name in ("id", "origin", "parent", "cwd", "provider", "model")
        }
        tx.change("session_add", **values, title=_title(session.title), owner=number, created=created, updated=created)

    @transaction(READ)
    def is_free(self, tx: Transaction, session_id: str) -> bool:
        """Whether no session of anybody has an id."""
        return tx.row("session_facts", id=clean(session_id)) is None

    @transaction(READ)
    def session(self, tx: Transaction, session_id: str, owner: Principal) -> Session:
        """One session of an owner. Raises UnknownName."""
        return get_session(tx, session_id, owner)

    @transaction(READ, long=True)
    def find_session(self, tx: Transaction, words: str, owner: Principal) -> Session:
        """A session by id, ``latest``, title, or the unique start of one. Raises UnknownName, UserError."""
        words, number = clean(words).strip(), owner_number(tx, owner)
        if words == "latest":
            if row := tx.row("sessions_list", owner=number, origin="", children=False, limit=1):
                return made(Session, row, owner=owner)
            raise UnknownName("session", words, hint="There is no session yet.")
        named = [made(Session, row, owner=owner) for row in tx.rows("sessions_named", owner=number, words=words)]
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
            raise UserError(
                f"{words!r} could be {len(matches)} sessions: {shown}.", hint="Give more of the id or title."
            )
        return matches[0]

    @transaction(READ)
    def last_turn(self, tx: Transaction, session_id: str) -> LastTurn | None:
        """The last turn of a session; its answer is empty until it is done. None when there is none."""
        row = tx.row("turn_last", session_id=session_id)
        if row is None:
            return None
        last = tx.row("messages_before", session_id=session_id, before=_END, limit=1)
        answer = plain_text(stored(last["body"]).parts) if last and row["state"] == "done" else ""
        return made(LastTurn, row, usage=made(Usage, row), answer=answer)

    @transaction(READ, long=True)
    def list_sessions(
        self, tx: Transaction, owner: Principal, *, limit: int = 20, origin: str = "", children: bool = False
    ) -> list[SessionRow]:
        """Sessions of an owner, last used first; those of child agents only when asked for."""
        values = {"owner": owner_number(tx, owner), "limit": limit, "origin": clean(origin), "children": children}
        found = tx.rows("sessions_list", **values)
        return [_row(tx, row, owner) for row in found]

    @transaction(READ, long=True)
    def interrupted(self, tx: Transaction, owner: Principal) -> list[str]:
        """The sessions in which a turn was cut off by the death of its process, oldest first; then those in which a
        message waits and nobody works. Child agents' are not among them: their parents go on with them."""
        number = owner_number(tx, owner)
        found = [*tx.rows("turns_open", owner=number), *tx.rows("sessions_waiting", owner=number)]
        return list(dict.fromkeys(session_id for session_id, *holder in found if not alive(tx, *holder)))

    @transaction(READ, long=True)
    def unplayed(
        self, tx: Transaction, came: Container[tuple[Principal, str, str]], *, limit: int = 100
    ) -> list[tuple[str, Principal]]:
        """The same of all owners whose messages ``came`` by a platform and an account: the oldest first."""
        found: dict[str, Principal] = {}
        for session_id, profile, person, platform, account, *holder in (
            *tx.rows("turns_unplayed"), *tx.rows("inbox_unplayed"),
        ):  # fmt: skip
            owner = Principal(profile=profile, person=person)
            if len(found) < limit and (owner, platform, account) in came and not alive(tx, *holder):
                found.setdefault(session_id, owner)
        return list(found.items())

    @transaction(READ)
    def session_owner(self, tx: Transaction, session_id: str) -> Principal | None:
        """Whose a session is, for who is only given its id; None when there is no such session."""
        row = tx.row("session_owner", id=session_id)
        return Principal(profile=row["profile"], person=row["person"]) if row else None

    @transaction()
    def rename_session(self, tx: Transaction, session_id: str, title: str, owner: Principal) -> None:
        """Give a session another title. Raises UnknownName, and UserError when another session has it."""
        get_session(tx, session_id, owner)
        title = _title(title)
        tx.alone("titles")
        for taken in tx.rows("session_titled", owner=owner_number(tx, owner), title=title) if title else ():
            if taken["id"] != session_id:
                raise UserError(f"Session {taken['id']} has the title {title!r} already.", hint="Choose another title.")
        tx.change("session_rename", id=session_id, title=title)

    @transaction()
    def update_session(
        self, tx: Transaction, session_id: str, *, provider: str = "", model: str = "", cwd: str = ""
    ) -> None:
        """Change what a session runs with; empty values stay as they are."""
        tx.change("session_update", id=session_id, provider=clean(provider), model=clean(model), cwd=clean(cwd))

    @transaction(long=True)
    def delete_session(self, tx: Transaction, session_id: str, owner: Principal) -> list[Session]:
        """Delete a session with all it holds, and those of its child agents; which those were.

        Raises UnknownName, and Busy while a turn runs in one of them.
        """
        return self._delete(tx, get_session(tx, session_id, owner), owner_number(tx, owner))

    def _delete(self, tx: Transaction, session: Session, number: int) -> list[Session]:
        session_id, gone = session.id, [session]
        check_free(tx, session_id)
        for child in tx.rows("sessions_below", owner=number, parent=session_id):
            gone += self._delete(tx, get_session(tx, child["id"], session.owner), number)
        known = () if tx.server else tx.rows("messages_from", session_id=session_id, start=0, limit=-1)
        for row, body in known:  # on a server they go with the messages
            tx.change("search_drop", rowid=row, words=index_words(stored(body), number))
        tx.change("documents_forget", session_id=session_id)
        tx.change("inbox_forget", session_id=session_id)  # its rows stay: the same event must not come in again
        tx.change("session_delete", id=session_id)
        return gone

    @transaction(READ, long=True)
    def unused_sessions(self, tx: Transaction, owner: Principal, before: float) -> list[str]:
        """The sessions last used before an instant: their ids."""
        return [row["id"] for row in tx.rows("sessions_before", owner=owner_number(tx, owner), before=before)]

    @transaction(READ, long=True)
    def messages(
        self, tx: Transaction, owner: Principal, session_id: str, *, around: int = 0, window: int = 10
    ) -> list[tuple[int, Message]]:
        """Stored messages with their numbers: ``window`` on each side of ``around``, or the last ones when it is 0."""
        get_session(tx, session_id, owner)
        found = tx.rows("message_at", session_id=session_id, before=around - 1) if around > 0 else ()
        start = found[0]["id"] if found else _END
        rows = tx.rows("messages_before", session_id=session_id, before=start, limit=window)[::-1]
        rows += tx.rows("messages_from", session_id=session_id, start=start, limit=window + 1)
        first = _number(tx, session_id, rows[0]["id"]) if rows else 0
        return [(number, stored(row["body"])) for number, row in enumerate(rows, first)]

    @transaction(READ, long=True)
    def search(
        self, tx: Transaction, owner: Principal, words: str, *, limit: int = 20, sort: str = "newest"
    ) -> list[Hit]:
        """Messages of an owner that hold all the words, newest (or oldest) first."""
        number, words = owner_number(tx, owner), clean(words)
        alone = tx.rows("owner_count")[0][0] == 1
        phrases = phrases_of(words, None if alone else number, cut=tx.server)
        rows = tx.hits(phrases, owner=number, oldest=sort == "oldest", limit=limit) if phrases else ()
        found = [(row, stored(row["body"])) for row in rows]
        return [_hit(tx, row, m, words) for row, m in found]

    @transaction(READ, long=True)
    def tool_history(
        self, tx: Transaction, owner: Principal, *, session_id: str = "", name: str = "", limit: int = 50
    ) -> list[HistoryEntry]:
        """Tool calls of an owner, newest first; of one session, or of one tool, if so asked."""
        values = {"owner": owner_number(tx, owner), "name": clean(name), "limit": limit}
        if session_id:
            rows = tx.rows("calls_of_session", **values, session_id=clean(session_id))
        else:
            rows = tx.rows("calls_list", **values)
        return [
            made(HistoryEntry, row, arguments=json.loads(row["arguments"]), output=_output(row["body"])) for row in rows
        ]


def _hit(tx: Transaction, row: sqlite3.Row, message: Message, words: str) -> Hit:
    number = _number(tx, row["session_id"], row["message_id"])
    found = snippet(searchable(message.parts), words)
    return made(Hit, row, message_id=number, snippet=found, untrusted=message.untrusted)


def _number(tx: Transaction, session_id: str, row: int) -> int:
    """Which message of its session a row is. A number of all rows would tell how much other people say."""
    return int(tx.rows("message_number", session_id=session_id, row=row)[0][0])


def _subject(*arguments: object) -> str:
    """The id of the session that a method's arguments name first, or an empty string."""
    named = (a if isinstance(a, str) else getattr(a, "session_id", getattr(a, "id", "")) for a in arguments)
    return next((str(name) for name in named if name), "")


def stored(body: str) -> Message:
    """A message as its row has it; of a row that cannot be read, that it was there. A session is never lost to one."""
    try:
        return message_from_json(json.loads(body))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        role: Role = "assistant" if body.startswith('{"role":"assistant"') else "user"
        return said(role, "(A message that was here cannot be read.)")


def owner_number(tx: Transaction, owner: Principal) -> int:
    """The number rows name an owner by; -1, which no row has, for one who owns nothing yet."""
    row = tx.row("owner_find", profile=clean(owner.profile), person=clean(owner.person))
    return int(row["id"]) if row else -1


def owner_row(tx: Transaction, owner: Principal) -> int:
    """The same, made when it is new."""
    found = owner_number(tx, owner)
    if found >= 0:
        return found
    names = {"profile": clean(owner.profile), "person": clean(owner.person)}
    return tx.add("owner_add", **names)


def get_session(tx: Transaction, session_id: str, owner: Principal) -> Session:
    """One session of an owner. Raises UnknownName."""
    row = tx.row("session_get", id=clean(session_id), owner=owner_number(tx, owner))
    if row is None:
        raise UnknownName("session", session_id)
    return made(Session, row, owner=owner)


def _row(tx: Transaction, row: sqlite3.Row, owner: Principal) -> SessionRow:
    known = {"session": made(Session, row, owner=owner), "usage": made(Usage, row)}
    state = "running" if alive(tx, *(row[name] for name in ("holder", "place", "pid", "beat"))) else "interrupted"
    return made(SessionRow, row, **known, preview=_preview(row["preview"]), state=state if row["holder"] else "idle")


def _title(title: str) -> str:
    return " ".join(clean(title).split())[:LONGEST_TITLE]


def _preview(body: str | None) -> str:
    text = plain_text(stored(body).parts) if body else ""
    short = " ".join(text[: _PREVIEW * 4].split())
    return short if len(short) <= _PREVIEW else f"{short[: _PREVIEW - 1]}…"


def _output(body: str | None) -> str:
    results = stored(body).parts if body else ()
    return "".join(plain_text(part.parts) for part in results if isinstance(part, ToolResult))
