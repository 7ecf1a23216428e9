"""Sessions: their rows, how they begin, lists of them by owner, and their end."""

import sqlite3
import time
from collections.abc import Sequence

from hermes_core.codec import clean, plain_text, searchable, stored
from hermes_core.database import READ, Transaction, made
from hermes_core.errors import UnknownName, UserError
from hermes_core.store.history import append, history_of, stand_for
from hermes_core.store.leases import alive, check_free
from hermes_core.store.transactions import Stored, get_session, owner_number, owner_row, transaction
from hermes_core.store.validity import valid
from hermes_core.types import Message, Principal, Session, SessionRow, Usage
from hermes_fulltext.words import index_words

__all__ = ["LONGEST_TITLE", "Sessions"]

LONGEST_TITLE = 100
_PREVIEW = 80
_ARCHIVED = "(archived)"  # no session has such an id


class Sessions(Stored):
    """The conversations that people have."""

    @transaction()
    def create(self, tx: Transaction, session: Session) -> None:
        """Store a new session. Raises UserError when the id is taken."""
        _create(tx, session)

    @transaction()
    def begin(self, tx: Transaction, session: Session, prompt: str, tools: str, history: Sequence[Message]) -> bool:
        """Store a new session with its prompt and what was said before, as one commit. Raises UserError.

        False when another process of the same owner began it meanwhile: then it is as that one has it.
        """
        if not history and tx.row("session_get", id=session.id, owner=owner_number(tx, session.owner)):
            return False
        _create(tx, session)
        tx.change("prompt_save", session_id=session.id, prompt=clean(prompt), tools=clean(tools))
        for message in valid(history):
            append(tx, session.id, message, "")
        return True

    @transaction()
    def fork(self, tx: Transaction, owner: Principal, source: str, session: Session, *, upto: str = "") -> None:
        """Store a new session with the prompt and history of another; until the end of the turn ``upto``, if given.

        Its model is told of the whole what that of the other is told: what was compacted or taken back stays so.
        Plugins' documents are copied with the whole, not until ``upto``: they are of later. Raises UnknownName.
        """
        get_session(tx, source, owner)
        _create(tx, session)
        if prompt := tx.row("prompt_load", session_id=source):
            tx.change("prompt_save", session_id=session.id, prompt=prompt["prompt"], tools=prompt["tools"])
        final = tx.row("turn_end", session_id=source, turn_id=upto) if upto else None
        rows = tx.rows("messages_from", session_id=source, start=0, limit=-1)
        end = final["id"] if final else rows[-1]["id"] if rows else 0
        for message in valid(stored(row["body"]) for row in rows if row["id"] <= end):
            append(tx, session.id, message, "")
        if not upto and tx.row("context_last", session_id=source):
            stand_for(tx, session.id, history_of(tx, source), "fork")
        if not upto:
            _copy_documents(tx, source, session.id)

    @transaction(READ)
    def is_free(self, tx: Transaction, session_id: str) -> bool:
        """Tell whether no session of anybody has an id."""
        return tx.row("session_facts", id=clean(session_id)) is None

    @transaction(READ)
    def get(self, tx: Transaction, session_id: str, owner: Principal) -> Session:
        """Return one session of an owner. Raises UnknownName."""
        return get_session(tx, session_id, owner)

    @transaction(READ, long=True)
    def find(self, tx: Transaction, words: str, owner: Principal) -> Session:
        """Find a session by id, ``latest``, title, or the unique start of one. Raises UnknownName, UserError."""
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
            text = f"{words!r} could be {len(matches)} sessions: {shown}."
            raise UserError(text, hint="Give more of the id or title.")
        return matches[0]

    @transaction(READ, long=True)
    def list(
        self, tx: Transaction, owner: Principal, *, limit: int = 20, origin: str = "", children: bool = False
    ) -> Sequence[SessionRow]:
        """List sessions of an owner, last used first; of child agents, and those plugins hide, only when asked for."""
        values = {"owner": owner_number(tx, owner), "limit": limit, "origin": clean(origin), "children": children}
        found = tx.rows("sessions_list", **values)
        return [_row(tx, row, owner) for row in found]

    @transaction(READ)
    def owner(self, tx: Transaction, session_id: str) -> Principal | None:
        """Return whose a session is, for who is only given its id; None when there is no such session."""
        row = tx.row("session_owner", id=session_id)
        return Principal(profile=row["profile"], person=row["person"]) if row else None

    @transaction()
    def save_prompt(self, tx: Transaction, session_id: str, prompt: str, tools: str) -> None:
        """Keep the system prompt, once, and the JSON of the offered tools; a later prompt never replaces the first."""
        tx.change("prompt_save", session_id=session_id, prompt=clean(prompt), tools=clean(tools))

    @transaction(READ)
    def load_prompt(self, tx: Transaction, session_id: str) -> tuple[str, str] | None:
        """Return what ``save_prompt`` kept, byte for byte, or None."""
        row = tx.row("prompt_load", session_id=session_id)
        return (row["prompt"], row["tools"]) if row else None

    @transaction()
    def rename(self, tx: Transaction, session_id: str, title: str, owner: Principal) -> None:
        """Give a session another title. Raises UnknownName, and UserError when another session has it."""
        get_session(tx, session_id, owner)
        title = _title(title)
        tx.alone("titles")
        for taken in tx.rows("session_titled", owner=owner_number(tx, owner), title=title) if title else ():
            if taken["id"] != session_id:
                raise UserError(f"Session {taken['id']} has the title {title!r} already.", hint="Choose another title.")
        tx.change("session_rename", id=session_id, title=title)

    @transaction()
    def archive(self, tx: Transaction, owner: Principal, session_id: str, *, back: bool = False) -> None:
        """Take a session out of lists, or ``back`` into them. Raises UnknownName; UserError where no list has it."""
        if get_session(tx, session_id, owner).parent not in ("", _ARCHIVED):
            raise UserError(f"No list shows {session_id}: it is a child agent's or a plugin's.")
        tx.change("session_archive", id=session_id, parent="" if back else _ARCHIVED)

    @transaction()
    def update(self, tx: Transaction, session_id: str, *, provider: str = "", model: str = "", cwd: str = "") -> None:
        """Change what a session runs with; empty values stay as they are."""
        tx.change("session_update", id=session_id, provider=clean(provider), model=clean(model), cwd=clean(cwd))

    @transaction(long=True)
    def delete(self, tx: Transaction, session_id: str, owner: Principal) -> Sequence[Session]:
        """Delete a session with all it holds, and those of its child agents; which those were.

        Raises UnknownName, and Busy while a turn runs in one of them.
        """
        return _delete(tx, get_session(tx, session_id, owner), owner_number(tx, owner))


def _create(tx: Transaction, session: Session) -> None:
    if tx.row("session_facts", id=session.id):
        raise UserError(f"The name {session.id} cannot be used here.", hint="Choose another one.")
    number, created = owner_row(tx, session.owner), session.created or time.time()
    values = {name: clean(getattr(session, name)) for name in ("id", "origin", "parent", "cwd", "provider", "model")}
    tx.change("session_add", **values, title=_title(session.title), owner=number, created=created, updated=created)


def _delete(tx: Transaction, session: Session, number: int) -> list[Session]:
    session_id, gone = session.id, [session]
    check_free(tx, session_id)
    for child in tx.rows("sessions_below", owner=number, parent=session_id):
        gone += _delete(tx, get_session(tx, child["id"], session.owner), number)
    known = () if tx.server else tx.rows("messages_from", session_id=session_id, start=0, limit=-1)
    for row, body in known:  # on a server they go with the messages
        tx.change("search_drop", rowid=row, words=index_words(searchable(stored(body).parts), number))
    tx.change("documents_forget", session_id=session_id)
    tx.change("inbox_forget", session_id=session_id)  # its rows stay: the same event must not come in again
    tx.change("session_delete", id=session_id)
    return gone


def _copy_documents(tx: Transaction, source: str, session_id: str) -> None:
    """Give a session what another one has."""
    for row in tx.rows("documents_of_session", session_id=source):
        tx.change("document_add", **{**{name: row[name] for name in row.keys()}, "session_id": session_id})  # noqa: SIM118 - not a mapping


def _row(tx: Transaction, row: sqlite3.Row, owner: Principal) -> SessionRow:
    known = {"session": made(Session, row, owner=owner), "usage": made(Usage, row)}
    state = "running" if alive(tx, row) else "interrupted"
    return made(SessionRow, row, **known, preview=_preview(row["preview"]), state=state if row["holder"] else "idle")


def _title(title: str) -> str:
    return " ".join(clean(title).split())[:LONGEST_TITLE]


def _preview(body: str | None) -> str:
    text = plain_text(stored(body).parts) if body else ""
    short = " ".join(text[: _PREVIEW * 4].split())
    return short if len(short) <= _PREVIEW else f"{short[: _PREVIEW - 1]}…"
