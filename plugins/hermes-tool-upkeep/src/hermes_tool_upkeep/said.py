"""What a person said where others speak too: in conversations that a group shares, which go on without it.

Their own words, files and ids go. What others and the model answered stays, as it is theirs: the documentation says so.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import sqlalchemy as sa

from hermes_core.codec import searchable, stored
from hermes_fulltext.words import index_words

__all__ = ["GONE", "Said", "accounts_of", "said_elsewhere", "take_out", "unnamed_in_files"]

GONE = "(erased)"
_LEFT = json.dumps({"role": "user", "parts": [{"type": "text", "text": GONE}]})


class Said(NamedTuple):
    """A message in a conversation of others: its row among those that came, its words, the files it brought."""

    row: int
    session_id: str
    turn_id: str
    texts: Sequence[str]
    files: Sequence[str]


def accounts_of(connection: sa.Connection, tables: Mapping[str, sa.Table], person: str) -> set[tuple[str, str]]:
    """Return the accounts of a person, as (platform, sender): of whatever table says whose they are."""
    found: set[tuple[str, str]] = set()
    for table in tables.values():
        if {"platform", "sender", "person"} <= set(table.columns.keys()):
            rows = sa.select(table.c.platform, table.c.sender).where(table.c.person == person, table.c.sender != "")
            found |= {(platform, sender) for platform, sender in connection.execute(rows)}
    platform, colon, sender = person.partition(":")
    return found | ({(platform, sender)} if colon else set())


def said_elsewhere(
    connection: sa.Connection, tables: Mapping[str, sa.Table], person: str, accounts: Collection[tuple[str, str]]
) -> Iterator[Said]:
    """Yield what came from these accounts into the sessions of others, oldest first."""
    inbox, sessions, owners = tables["inbox"], tables["sessions"], tables["owners"]
    turns = tables["turns"]
    session = sa.func.coalesce(sa.func.nullif(inbox.c.session_id, ""), turns.c.session_id)
    rows = sa.select(inbox.c.id, inbox.c.turn_id, inbox.c.body, inbox.c.envelope, session.label("session"))
    rows = rows.select_from(
        inbox.outerjoin(turns, turns.c.id == inbox.c.turn_id)
        .join(sessions, sessions.c.id == session)
        .join(owners, owners.c.id == sessions.c.owner)
    ).where(owners.c.person != person, inbox.c.platform.in_({platform for platform, _ in accounts}))
    for row in connection.execute(rows.order_by(inbox.c.id)):
        envelope = _read(row.envelope)
        if (envelope.get("platform"), envelope.get("sender")) not in accounts:
            continue
        parts = _read(row.body).get("parts") or ()
        texts = [part["text"] for part in parts if part.get("type") == "text" and part.get("text", "").strip()]
        files = [part["path"] for part in parts if part.get("type") == "blob" and part.get("path")]
        yield Said(row.id, row.session, row.turn_id, texts, files)


def take_out(connection: sa.Connection, tables: Mapping[str, sa.Table], said: Sequence[Said]) -> None:
    """Take what was said out of the rows: of what came, of what models are told, of what was compacted to."""
    inbox, messages = tables["inbox"], tables["messages"]
    for one in said:
        where = sa.and_(messages.c.session_id == one.session_id, messages.c.role == "user")
        columns = (messages.c.id, messages.c.owner, messages.c.body)
        for row in connection.execute(sa.select(*columns).where(where)).all():
            if _holds(_read(row.body), one):
                connection.execute(sa.update(messages).where(messages.c.id == row.id).values(body=_LEFT))
                _out_of_index(connection, row.id, row.owner, row.body)
        connection.execute(sa.update(inbox).where(inbox.c.id == one.row).values(body="", envelope=""))
        if "contexts" in tables:
            _out_of_contexts(connection, tables["contexts"], one)


def _out_of_index(connection: sa.Connection, message: int, owner: int, body: str) -> None:
    """Take a message's words out of the search index; on a server they are a row beside it."""
    if connection.dialect.name != "sqlite":
        search = sa.table("search", sa.column("rowid"))
        connection.execute(sa.delete(search).where(search.c.rowid == message))
        return
    gone, left = (index_words(searchable(stored(one).parts), owner) for one in (body, _LEFT))
    connection.exec_driver_sql("INSERT INTO search (rowid, words, search) VALUES (?, ?, 'delete')", (message, gone))
    connection.exec_driver_sql("INSERT INTO search (rowid, words) VALUES (?, ?)", (message, left))


def _out_of_contexts(connection: sa.Connection, contexts: sa.Table, one: Said) -> None:
    """Put a word in the place of what was said, wherever a compacted context repeats it."""
    wanted = sa.select(contexts.c.id, contexts.c.body).where(contexts.c.session_id == one.session_id)
    for row in connection.execute(wanted).all():
        body = row.body
        for text in one.texts:
            inside = json.dumps(text, ensure_ascii=False)[1:-1]
            body = body.replace(inside, GONE) if len(text) > 3 else body
        if body != row.body:
            connection.execute(sa.update(contexts).where(contexts.c.id == row.id).values(body=body))


def _holds(message: Mapping[str, Any], one: Said) -> bool:
    """Whether a stored message is what was said: it may have more in it, such as who says it."""
    texts = [part.get("text", "") for part in message.get("parts") or () if part.get("type") == "text"]
    return bool(one.texts) and all(text in texts for text in one.texts)


def unnamed_in_files(home: Path, said: Sequence[Said]) -> None:
    """Take what was said out of transcripts, and delete the files that were brought."""
    for one in said:
        for name in one.files:
            path = Path(name)
            if path.is_relative_to(home):
                path.unlink(missing_ok=True)
        if (transcript := home / "sessions" / f"{one.session_id}.jsonl").is_file():
            _rewrite(transcript, one)


def _rewrite(transcript: Path, one: Said) -> None:
    lines = transcript.read_text(encoding="utf-8").splitlines()
    kept = [_without(line, one) for line in lines]
    if kept != lines:
        draft = transcript.with_name(f".{transcript.name}.new")
        draft.touch(mode=transcript.stat().st_mode & 0o777)
        draft.write_text("\n".join(kept) + "\n", encoding="utf-8")
        draft.replace(transcript)


def _without(line: str, one: Said) -> str:
    row = _read(line)
    shown = json.dumps(row.get("content"), ensure_ascii=False) if row.get("role") == "user" else ""
    inside = [json.dumps(text, ensure_ascii=False)[1:-1] for text in one.texts]
    if not inside or not all(text in shown for text in inside):
        return line
    return json.dumps({**row, "content": GONE}, ensure_ascii=False)


def _read(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
