"""Which messages are gone on with in a session of their person's, and in which thread.

Revision ID: 0005
Revises: 0004
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

OURS = "platform_gateway__"


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), server_default="", nullable=False)


def upgrade() -> None:
    """Make the table, and let a message want a thread of its own."""
    place = ("profile", "person", "platform", "account", "chat")
    op.create_table(
        f"{OURS}threads",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), primary_key=True),
        *(_text(name) for name in (*place, "thread", "topic", "session_id")),
        sa.Column("made", sa.Float(), server_default="0", nullable=False),
    )
    op.create_index(f"{OURS}threads_once", f"{OURS}threads", [*place, "session_id"], unique=True)
    op.create_index(f"{OURS}threads_by_topic", f"{OURS}threads", [*place, "topic"])
    op.create_index(f"{OURS}threads_made", f"{OURS}threads", ["made"])
    with op.batch_alter_table(f"{OURS}outbox") as table:
        table.add_column(_text("opens"))
