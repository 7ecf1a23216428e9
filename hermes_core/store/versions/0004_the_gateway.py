"""What the gateway knows: who people are, which chats there are, what has to be sent, who serves which account.

Revision ID: 0004
Revises: 0003
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), server_default="", nullable=False)


def _time(name: str) -> sa.Column[float]:
    return sa.Column(name, sa.Float(), server_default="0", nullable=False)


def _count(name: str) -> sa.Column[int]:
    return sa.Column(name, number, server_default="0", nullable=False)


def upgrade() -> None:
    """Add the tables, and what an inbox row must say so that another machine can answer it."""
    for name in ("envelope", "trace"):
        op.add_column("inbox", _text(name))
    op.add_column("approvals", _text("addressee"))
    op.create_index("inbox_traces", "inbox", ["trace"], unique=False)
    op.create_index("inbox_turns", "inbox", ["turn_id"], unique=False)
    op.create_index(
        "turns_open",
        "turns",
        ["session_id"],
        unique=False,
        sqlite_where=sa.text("state = 'open'"),
        postgresql_where=sa.text("state = 'open'"),
    )
    op.create_table(
        "outbox",
        sa.Column("id", number, nullable=False),
        sa.Column("owner", number, nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        *(_text(n) for n in ("session_id", "turn_id", "trace", "kind")),
        *(_text(n) for n in ("platform", "account", "chat", "thread", "reply_to", "body")),
        *(_text(n) for n in ("state", "placeholder", "message_id", "error", "holder")),
        *(_count(n) for n in ("tries", "repeated")),
        *(_time(n) for n in ("created", "due", "sent")),
        sa.ForeignKeyConstraint(["owner"], ["owners.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("key"),
    )
    op.create_index(
        "outbox_waiting",
        "outbox",
        ["platform", "account", "due"],
        unique=False,
        sqlite_where=sa.text("state IN ('waiting', 'sending')"),
        postgresql_where=sa.text("state IN ('waiting', 'sending')"),
    )
    op.create_index("outbox_turns", "outbox", ["turn_id"], unique=False)
    op.create_index("outbox_traces", "outbox", ["trace"], unique=False)
    op.add_column("model_calls", _time("seconds"))
    op.create_table(
        "people",
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("sender", sa.Text(), nullable=False),
        *(_text(n) for n in ("person", "role", "name", "by")),
        _time("since"),
        sa.PrimaryKeyConstraint("platform", "sender"),
    )
    op.create_table(
        "pairings",
        sa.Column("id", number, nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("sender", sa.Text(), nullable=False),
        *(_text(n) for n in ("account", "chat", "name", "salt", "hash")),
        *(_time(n) for n in ("created", "expires")),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("platform", "sender"),
    )
    op.create_table(
        "pairing_locks",
        sa.Column("platform", sa.Text(), nullable=False),
        _count("failures"),
        _time("until"),
        sa.PrimaryKeyConstraint("platform"),
    )
    op.create_table(
        "chats",
        sa.Column("id", number, nullable=False),
        sa.Column("owner", number, nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("chat", sa.Text(), nullable=False),
        sa.Column("thread", sa.Text(), nullable=False),
        *(_text(n) for n in ("kind", "name", "sender", "dead")),
        _count("home"),
        _time("seen"),
        sa.ForeignKeyConstraint(["owner"], ["owners.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("owner", "platform", "account", "chat", "thread"),
    )
    op.create_table(
        "routes",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("owner", number, nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        _text("overrides"),
        *(_time(n) for n in ("made", "used")),
        sa.ForeignKeyConstraint(["owner"], ["owners.id"]),
        sa.PrimaryKeyConstraint("key"),
    )
    op.create_index("routes_of_session", "routes", ["session_id"], unique=False)
    op.create_table(
        "accounts",
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("account", sa.Text(), nullable=False),
        *(_text(n) for n in ("holder", "place", "state", "error")),
        *(_count(n) for n in ("fence", "pid")),
        *(_time(n) for n in ("beat", "since")),
        sa.PrimaryKeyConstraint("platform", "account"),
    )
