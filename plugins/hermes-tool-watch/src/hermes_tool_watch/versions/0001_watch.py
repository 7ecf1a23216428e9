"""What is watched, what was seen last, and what changed.

Revision ID: 0001
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

OURS = "tool_watch__"


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), server_default="", nullable=False)


def _time(name: str) -> sa.Column[float]:
    return sa.Column(name, sa.Float(), server_default="0", nullable=False)


def _number(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.Integer(), server_default="0", nullable=False)


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        f"{OURS}watches",
        *(_text(name) for name in ("name", "told", "seen", "note")),
        _number("number"),
        _time("due"),
        _time("created"),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        f"{OURS}changes",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), primary_key=True),
        *(_text(name) for name in ("watch", "event", "text", "state", "session", "note")),
        _number("tries"),
        _time("due"),
        _time("created"),
    )
    op.create_index(f"{OURS}changes_once", f"{OURS}changes", ["event"], unique=True)
    op.create_index(f"{OURS}changes_waiting", f"{OURS}changes", ["state", "due"])
    op.create_index(f"{OURS}changes_of", f"{OURS}changes", ["watch", "created"])
