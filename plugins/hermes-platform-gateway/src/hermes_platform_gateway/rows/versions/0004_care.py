"""Who may not talk for a while or at all, whom a person invited, and when somebody wants to be left in peace.

Revision ID: 0004
Revises: 0003
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

OURS = "platform_gateway__"


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), server_default="", nullable=False)


def _time(name: str) -> sa.Column[float]:
    return sa.Column(name, sa.Float(), server_default="0", nullable=False)


def upgrade() -> None:
    """Make the tables, and let messages be held back."""
    op.create_table(
        f"{OURS}restrictions",
        *(_text(n) for n in ("subject", "kind", "person", "by")),
        *(_time(n) for n in ("since", "until")),
        sa.PrimaryKeyConstraint("subject", "kind"),
    )
    op.create_table(
        f"{OURS}invites",
        *(_text(n) for n in ("hash", "person", "role", "by", "fresh", "used")),
        *(_time(n) for n in ("created", "expires")),
        sa.PrimaryKeyConstraint("hash"),
    )
    op.create_table(
        f"{OURS}quiet",
        *(_text(n) for n in ("profile", "person", "platform", "chat", "begins", "ends", "zone")),
        sa.PrimaryKeyConstraint("profile", "person", "platform", "chat"),
    )
    with op.batch_alter_table(f"{OURS}outbox") as table:
        table.add_column(_time("held"))
