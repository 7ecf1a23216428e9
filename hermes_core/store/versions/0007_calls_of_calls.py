"""Calls that a running call makes: rows of their own, with their results, as no model is told of them.

Revision ID: 0007
Revises: 0006
"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column. ``result`` is NULL for a call of a model, and empty until a call of a call has its own."""
    op.add_column("tool_calls", sa.Column("result", sa.Text(), nullable=True))
