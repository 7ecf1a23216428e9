"""Where memos are from, which Honcho has no place for.

Revision ID: 0001
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table. The column ``person`` says whose a row is, by which it goes when they are erased."""
    op.create_table(
        "memory_honcho__sources",
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("person", "profile", "text", "by", "session")),
        sa.Column("trusted", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("person", "profile", "text"),
    )
