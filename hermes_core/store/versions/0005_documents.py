"""Documents of plugins: small JSON values, replaced as a whole.

Revision ID: 0005
Revises: 0004
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add the table. ``owner`` is 0 and ``session_id`` empty where a document belongs to nobody, or to no session."""
    op.create_table(
        "documents",
        sa.Column("plugin", sa.Text(), nullable=False),
        sa.Column("owner", number, nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("version", number, nullable=False),
        sa.Column("updated", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("plugin", "owner", "session_id", "name"),
    )
    op.create_index("documents_of_session", "documents", ["session_id"], unique=False)
