"""Memos with their vectors.

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
        "memory_vector__memos",
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("person", "profile", "id")),
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("text", "words", "by", "session", "model")),
        sa.Column("trusted", sa.Boolean(), nullable=False),
        sa.Column("time", sa.Float(), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("person", "profile", "id"),
    )
    op.create_index("memory_vector__by_time", "memory_vector__memos", ["person", "profile", "time", "model"])
