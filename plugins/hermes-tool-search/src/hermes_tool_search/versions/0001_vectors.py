"""What tools say of themselves, as vectors: without the words.

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
        "tool_search__vectors",
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("person", "model", "hash")),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.Column("used", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("person", "model", "hash"),
    )
