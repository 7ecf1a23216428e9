"""Compacted contexts, what each model call cost, and messages that wait for their turn.

Revision ID: 0002
Revises: 0001
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add two tables, and the columns with which an inbox row can wait."""
    op.create_table(
        "contexts",
        sa.Column("id", number, nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("upto", number, nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("plugin", sa.Text(), server_default="", nullable=False),
        sa.Column("created", sa.Float(), server_default="0", nullable=False),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("contexts_of_session", "contexts", ["session_id"], unique=False)
    op.create_table(
        "model_calls",
        sa.Column("id", number, nullable=False),
        sa.Column("owner", number, nullable=False),
        sa.Column("session_id", sa.Text(), server_default="", nullable=False),
        sa.Column("turn_id", sa.Text(), server_default="", nullable=False),
        sa.Column("task", sa.Text(), server_default="", nullable=False),
        sa.Column("provider", sa.Text(), server_default="", nullable=False),
        sa.Column("model", sa.Text(), server_default="", nullable=False),
        sa.Column("created", sa.Float(), server_default="0", nullable=False),
        sa.Column("input", number, server_default="0", nullable=False),
        sa.Column("output", number, server_default="0", nullable=False),
        sa.Column("cache_read", number, server_default="0", nullable=False),
        sa.Column("cache_write", number, server_default="0", nullable=False),
        sa.Column("reasoning", number, server_default="0", nullable=False),
        sa.Column("calls", number, server_default="0", nullable=False),
        sa.Column("cost", sa.Float(), server_default="0", nullable=False),
        sa.Column("priced", sa.Text(), server_default="", nullable=False),
        sa.ForeignKeyConstraint(["owner"], ["owners.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("model_calls_by_time", "model_calls", ["owner", "created"], unique=False)
    for name in ("session_id", "body", "mode"):
        op.add_column("inbox", sa.Column(name, sa.Text(), server_default="", nullable=False))
    op.create_index(
        "inbox_waiting",
        "inbox",
        ["session_id"],
        unique=False,
        sqlite_where=sa.text("turn_id = ''"),
        postgresql_where=sa.text("turn_id = ''"),
    )
