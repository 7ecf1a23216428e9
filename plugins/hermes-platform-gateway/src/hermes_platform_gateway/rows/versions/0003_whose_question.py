"""To whom a question was put, with the messages that ask it.

Revision ID: 0003
Revises: 0002
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

TABLE = "platform_gateway__questions"
TEXTS = (
    "id", "profile", "person", "owner", "session_id", "kind", "addressee", "says", "platform", "account", "chat",
    "thread", "keys", "closed",
)  # fmt: skip


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        TABLE,
        *(sa.Column(name, sa.Text(), server_default="", nullable=False) for name in TEXTS),
        sa.Column("asked", sa.Float(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(f"{TABLE}_of_person", TABLE, ["profile", "person", "closed"])
    op.create_index(f"{TABLE}_of_session", TABLE, ["session_id", "closed"])
