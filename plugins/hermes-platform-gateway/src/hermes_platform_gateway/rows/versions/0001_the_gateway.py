"""What goes out, chats, session keys, who may talk; and what the kernel kept of that before it was the gateway's.

Revision ID: 0001
Revises:
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
OURS = "platform_gateway__"
PLACE = ("platform", "account", "chat", "thread")


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), server_default="", nullable=False)


def _time(name: str) -> sa.Column[float]:
    return sa.Column(name, sa.Float(), server_default="0", nullable=False)


def _count(name: str) -> sa.Column[int]:
    return sa.Column(name, number, server_default="0", nullable=False)


def upgrade() -> None:
    """Make the tables, and take over what revision 0006 of the kernel left for them."""
    op.create_table(
        f"{OURS}outbox",
        sa.Column("id", number, nullable=False),
        *(_text(n) for n in ("profile", "person", "key", "session_id", "turn_id", "trace", "kind", *PLACE)),
        *(_text(n) for n in ("reply_to", "body", "state", "placeholder", "message_id", "error", "holder")),
        *(_count(n) for n in ("tries", "repeated")),
        *(_time(n) for n in ("created", "due", "sent")),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("key"),
    )
    unsent = sa.text("state IN ('waiting', 'sending')")
    where: Any = {"sqlite_where": unsent, "postgresql_where": unsent}
    op.create_index(f"{OURS}outbox_waiting", f"{OURS}outbox", ["platform", "account", "due"], **where)
    op.create_index(f"{OURS}outbox_turns", f"{OURS}outbox", ["turn_id"])
    op.create_index(f"{OURS}outbox_traces", f"{OURS}outbox", ["trace"])
    op.create_table(
        f"{OURS}chats",
        sa.Column("id", number, nullable=False),
        *(_text(n) for n in ("profile", "person", *PLACE, "kind", "name", "sender", "dead")),
        _count("home"),
        _time("seen"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("profile", "person", *PLACE),
    )
    op.create_table(
        f"{OURS}routes",
        *(_text(n) for n in ("key", "profile", "person", "session_id", "overrides")),
        *(_time(n) for n in ("made", "used")),
        sa.PrimaryKeyConstraint("key"),
    )
    op.create_index(f"{OURS}routes_of_session", f"{OURS}routes", ["session_id"])
    op.create_table(
        f"{OURS}people",
        *(_text(n) for n in ("platform", "sender", "person", "role", "name", "by")),
        _time("since"),
        sa.PrimaryKeyConstraint("platform", "sender"),
    )
    op.create_table(
        f"{OURS}pairings",
        sa.Column("id", number, nullable=False),
        *(_text(n) for n in ("platform", "sender", "account", "chat", "name", "salt", "hash")),
        *(_time(n) for n in ("created", "expires")),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("platform", "sender"),
    )
    op.create_table(
        f"{OURS}locks", _text("platform"), _count("failures"), _time("until"), sa.PrimaryKeyConstraint("platform")
    )
    for name in ("outbox", "chats", "routes", "people", "pairings", "locks"):
        _take_over(name)


def _take_over(name: str) -> None:
    """Move the rows that were left for a table into it."""
    connection, table, left = op.get_bind(), f"{OURS}{name}", f"{OURS}left_{name}"
    looked = sa.inspect(connection)
    if not looked.has_table(left):
        return
    known = {column["name"] for column in looked.get_columns(left)}
    columns = ", ".join(f'"{c["name"]}"' for c in looked.get_columns(table) if c["name"] in known)
    op.execute(f"INSERT INTO {table} ({columns}) SELECT {columns} FROM {left}")  # noqa: S608 - our own names
    op.drop_table(left)
    if "id" in known and connection.dialect.name == "postgresql":
        op.execute(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), (SELECT max(id) FROM {table}))")  # noqa: S608
