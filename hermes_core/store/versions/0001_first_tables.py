"""The first tables.

Revision ID: 0001
Revises:
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make every table, then the search index, which alembic has no words for."""
    op.create_table(
        "owners",
        sa.Column("id", number, nullable=False),
        sa.Column("profile", sa.Text(), nullable=False),
        sa.Column("person", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("profile", "person"),
    )
    op.create_table(
        "inbox",
        sa.Column("id", number, nullable=False),
        sa.Column("owner", number, nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("event_id", sa.Text(), nullable=False),
        sa.Column("turn_id", sa.Text(), server_default="", nullable=False),
        sa.Column("received", sa.Float(), server_default="0", nullable=False),
        sa.ForeignKeyConstraint(["owner"], ["owners.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("platform", "account", "event_id"),
    )
    op.create_table(
        "sessions",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("owner", number, nullable=False),
        sa.Column("origin", sa.Text(), server_default="", nullable=False),
        sa.Column("parent", sa.Text(), server_default="", nullable=False),
        sa.Column("title", sa.Text(), server_default="", nullable=False),
        sa.Column("cwd", sa.Text(), server_default="", nullable=False),
        sa.Column("provider", sa.Text(), server_default="", nullable=False),
        sa.Column("model", sa.Text(), server_default="", nullable=False),
        sa.Column("created", sa.Float(), server_default="0", nullable=False),
        sa.Column("updated", sa.Float(), server_default="0", nullable=False),
        sa.Column("last", number, server_default="0", nullable=False),
        sa.Column("messages", number, server_default="0", nullable=False),
        sa.Column("tool_calls", number, server_default="0", nullable=False),
        sa.Column("input", number, server_default="0", nullable=False),
        sa.Column("output", number, server_default="0", nullable=False),
        sa.Column("cache_read", number, server_default="0", nullable=False),
        sa.Column("cache_write", number, server_default="0", nullable=False),
        sa.Column("reasoning", number, server_default="0", nullable=False),
        sa.Column("calls", number, server_default="0", nullable=False),
        sa.Column("cost", sa.Float(), server_default="0", nullable=False),
        sa.ForeignKeyConstraint(["owner"], ["owners.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("sessions_by_use", "sessions", ["owner", "last"], unique=False)
    op.create_table(
        "leases",
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("holder", sa.Text(), server_default="", nullable=False),
        sa.Column("place", sa.Text(), server_default="", nullable=False),
        sa.Column("fence", number, server_default="0", nullable=False),
        sa.Column("pid", number, server_default="0", nullable=False),
        sa.Column("beat", sa.Float(), server_default="0", nullable=False),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("session_id"),
    )
    op.create_table(
        "messages",
        sa.Column("id", number, nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("owner", number, nullable=False),
        sa.Column("turn_id", sa.Text(), server_default="", nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("created", sa.Float(), server_default="0", nullable=False),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["owner"], ["owners.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("messages_of_session", "messages", ["session_id"], unique=False)
    op.create_table(
        "prompts",
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("prompt", sa.Text(), nullable=False),
        sa.Column("tools", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("session_id"),
    )
    op.create_table(
        "tool_calls",
        sa.Column("id", number, nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("owner", number, nullable=False),
        sa.Column("turn_id", sa.Text(), nullable=False),
        sa.Column("message_id", number, nullable=False),
        sa.Column("call_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("arguments", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("started", sa.Float(), server_default="0", nullable=False),
        sa.Column("seconds", sa.Float(), server_default="0", nullable=False),
        sa.Column("mark", number, server_default="0", nullable=False),
        sa.Column("repeats", number, server_default="0", nullable=False),
        sa.Column("result_id", number, nullable=True),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["owner"], ["owners.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("message_id", "call_id"),
    )
    op.create_index("tool_calls_alike", "tool_calls", ["session_id", "mark"], unique=False)
    op.create_index("tool_calls_of_turn", "tool_calls", ["turn_id", "call_id"], unique=False)
    op.create_index(
        "tool_calls_open",
        "tool_calls",
        ["session_id"],
        unique=False,
        sqlite_where=sa.text("outcome IN ('pending', 'started')"),
        postgresql_where=sa.text("outcome IN ('pending', 'started')"),
    )
    op.create_table(
        "turns",
        sa.Column("seq", number, nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("owner", number, nullable=False),
        sa.Column("holder", sa.Text(), server_default="", nullable=False),
        sa.Column("state", sa.Text(), server_default="", nullable=False),
        sa.Column("error", sa.Text(), server_default="", nullable=False),
        sa.Column("provider", sa.Text(), server_default="", nullable=False),
        sa.Column("model", sa.Text(), server_default="", nullable=False),
        sa.Column("started", sa.Float(), server_default="0", nullable=False),
        sa.Column("ended", sa.Float(), server_default="0", nullable=False),
        sa.Column("input", number, server_default="0", nullable=False),
        sa.Column("output", number, server_default="0", nullable=False),
        sa.Column("cache_read", number, server_default="0", nullable=False),
        sa.Column("cache_write", number, server_default="0", nullable=False),
        sa.Column("reasoning", number, server_default="0", nullable=False),
        sa.Column("calls", number, server_default="0", nullable=False),
        sa.Column("cost", sa.Float(), server_default="0", nullable=False),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["owner"], ["owners.id"]),
        sa.PrimaryKeyConstraint("seq"),
        sa.UniqueConstraint("id"),
    )
    op.create_index("turns_by_time", "turns", ["owner", "started"], unique=False)
    op.create_index("turns_of_session", "turns", ["session_id"], unique=False)
    if op.get_context().dialect.name == "sqlite":
        op.execute(
            """CREATE VIRTUAL TABLE search USING
    fts5(words, content='', columnsize=0, tokenize='unicode61 remove_diacritics 2')"""
        )
        op.execute("INSERT INTO search (search, rank) VALUES ('automerge', 8)")
    else:
        op.create_table(
            "search",
            sa.Column("rowid", number, autoincrement=False, nullable=False),
            sa.Column("words", sa.Text(), nullable=False),
            sa.ForeignKeyConstraint(["rowid"], ["messages.id"], ondelete="CASCADE"),
            sa.PrimaryKeyConstraint("rowid"),
        )
        op.execute("CREATE INDEX search_words ON search USING gin (string_to_array(words, ' '))")
