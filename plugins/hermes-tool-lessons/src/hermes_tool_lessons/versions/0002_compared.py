"""Turns that are told nothing to compare, and what is known of all lessons of a person.

Revision ID: 0002
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

OURS = "tool_lessons__"


def upgrade() -> None:
    """Add the columns and the table. A column ``person`` says whose a row is, by which it goes when they are erased."""
    for name in ("held", "held_won"):
        op.add_column(f"{OURS}lessons", sa.Column(name, sa.BigInteger(), server_default="0", nullable=False))
    op.create_table(
        f"{OURS}rates",
        *(sa.Column(name, sa.Text(), server_default="", nullable=False) for name in ("id", "profile", "person")),
        *(sa.Column(name, sa.BigInteger(), server_default="0", nullable=False) for name in ("held", "won", "seen")),
        *(
            sa.Column(name, sa.Float(), server_default="0", nullable=False)
            for name in ("once", "often", "effect", "proof")
        ),
        sa.PrimaryKeyConstraint("id"),
    )
