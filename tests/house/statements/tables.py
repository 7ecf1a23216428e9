"""The tables as the migrations make them, and the few words that statements are made of."""

import sqlite3

import sqlalchemy as sa
from attrs import fields
from sqlalchemy.dialects import postgresql

from hermes_core.store.file_database import FileTransaction
from hermes_core.store.lent import Lender
from hermes_core.store.migrate import upgrade
from hermes_core.types import Session, Usage

database = sqlite3.connect(":memory:")
_metadata = sa.MetaData()
upgrade(FileTransaction(database), ":memory:")
with Lender().connected(FileTransaction(database)) as _connection:
    _metadata.reflect(_connection)
_tables = ("owners", "sessions", "prompts", "turns", "messages", "tool_calls", "leases", "inbox", "contexts")
owners, sessions, prompts, turns, messages, calls, leases, inbox, contexts = (_metadata.tables[n] for n in _tables)
model_calls, approvals, grants = (_metadata.tables[n] for n in ("model_calls", "approvals", "grants"))
documents = _metadata.tables["documents"]
search = sa.table(
    "search", sa.column("rowid"), sa.column("words"), sa.column("search")
)  # an FTS5 table, unknown to SQLAlchemy; on a server a plain one

b = sa.bindparam
USAGE = [field.name for field in fields(Usage) if field.name != "priced"]
SESSION = [field.name for field in fields(Session) if field.name in sessions.c and field.name != "owner"]
SPENT = ("provider", "model", "task", "turn_id", "priced")
HOLDER = ("holder", "place", "pid", "beat")
LEASE = ("fence", *HOLDER)
APPROVAL = (
    "session_id", "root", "turn_id", "call_id", "kind", "subject", "risk", "choices", "covers", "rules", "state",
    "verdict", "choice", "reason", "answered_by", "asked", "answered", "addressee",
)  # fmt: skip
GRANT = ("session_id", "rule", "words", "folder", "approval_id", "created")
CALL = ("session_id", "turn_id", "message_id", "call_id", "name", "arguments", "mark", "result")


def equal(of: sa.Table, *names: str) -> list[sa.ColumnElement[bool]]:
    """Each column equal to the parameter of its name."""
    return [of.c[name] == b(name) for name in names]


def get(of: sa.Table, *names: str) -> sa.Select[tuple[object, ...]]:
    """Columns of a table."""
    return sa.select(*(of.c[name] for name in names))


def given(*names: str) -> dict[str, sa.ColumnElement[object]]:
    """Each column set to the parameter of its name."""
    return {name: b(name) for name in names}


def add(to: sa.Table | sa.TableClause, *names: str, **computed: object) -> postgresql.Insert:
    """An insert; both dialects read what this one says about conflicts."""
    return postgresql.insert(to).values({**given(*names), **computed})


def change(of: sa.Table, *names: str, **computed: object) -> sa.Update:
    """An update of the row with an id."""
    return sa.update(of).where(*equal(of, "id")).values({**given(*names), **computed})


def these(of: sa.Table, *names: str) -> list[sa.ColumnElement[bool]]:
    """Each column equal to the parameter of its name, unless that is empty."""
    return [(b(name) == sa.literal_column("''")) | (of.c[name] == b(name)) for name in names]
