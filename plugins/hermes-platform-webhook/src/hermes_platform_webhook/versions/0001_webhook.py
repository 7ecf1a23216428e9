"""Which services are heard, and what they told.

Revision ID: 0001
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

OURS = "platform_webhook__"


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), server_default="", nullable=False)


def _time(name: str) -> sa.Column[float]:
    return sa.Column(name, sa.Float(), server_default="0", nullable=False)


def upgrade() -> None:
    """Make the tables. A column ``person`` says whose a row is, by which it goes when they are erased."""
    op.create_table(
        f"{OURS}subscriptions",
        *(_text(name) for name in ("name", "person", "told")),
        _time("created"),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        f"{OURS}deliveries",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), primary_key=True),
        *(_text(name) for name in ("route", "delivery", "digest", "event", "text", "state", "note", "session")),
        sa.Column("tries", sa.Integer(), server_default="0", nullable=False),
        _time("due"),
        _time("received"),
    )
    table = f"{OURS}deliveries"
    op.create_index(f"{table}_once", table, ["route", "delivery"], unique=True)
    op.create_index(f"{table}_signed_once", table, ["route", "digest"], unique=True)
    op.create_index(f"{table}_waiting", table, ["state", "route", "due"])
    op.create_index(f"{table}_old", table, ["received"])
