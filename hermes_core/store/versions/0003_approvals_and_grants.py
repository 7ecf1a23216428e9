"""Questions that wait for a person's yes, and what a person allowed beyond one call.

Revision ID: 0003
Revises: 0002
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add two tables."""
    op.create_table(
        "approvals",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("owner", number, nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("root", sa.Text(), nullable=False),
        sa.Column("turn_id", sa.Text(), server_default="", nullable=False),
        sa.Column("call_id", sa.Text(), server_default="", nullable=False),
        sa.Column("kind", sa.Text(), server_default="approval", nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("risk", sa.Text(), server_default="", nullable=False),
        sa.Column("choices", sa.Text(), server_default="[]", nullable=False),
        sa.Column("covers", sa.Text(), server_default="", nullable=False),
        sa.Column("rules", sa.Text(), server_default="[]", nullable=False),
        sa.Column("state", sa.Text(), server_default="open", nullable=False),
        sa.Column("verdict", sa.Text(), server_default="", nullable=False),
        sa.Column("choice", sa.Text(), server_default="", nullable=False),
        sa.Column("reason", sa.Text(), server_default="", nullable=False),
        sa.Column("answered_by", sa.Text(), server_default="", nullable=False),
        sa.Column("asked", sa.Float(), server_default="0", nullable=False),
        sa.Column("answered", sa.Float(), server_default="0", nullable=False),
        sa.ForeignKeyConstraint(["owner"], ["owners.id"]),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("approvals_by_time", "approvals", ["owner", "asked"], unique=False)
    op.create_index("approvals_of_session", "approvals", ["session_id"], unique=False)
    op.create_table(
        "grants",
        sa.Column("id", number, nullable=False),
        sa.Column("owner", number, nullable=False),
        sa.Column("session_id", sa.Text(), nullable=True),
        sa.Column("rule", sa.Text(), nullable=False),
        sa.Column("words", sa.Text(), nullable=False),
        sa.Column("folder", sa.Text(), server_default="", nullable=False),
        sa.Column("approval_id", sa.Text(), server_default="", nullable=False),
        sa.Column("created", sa.Float(), server_default="0", nullable=False),
        sa.ForeignKeyConstraint(["owner"], ["owners.id"]),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("grants_of_owner", "grants", ["owner"], unique=False)
    op.create_index("grants_of_session", "grants", ["session_id"], unique=False)
