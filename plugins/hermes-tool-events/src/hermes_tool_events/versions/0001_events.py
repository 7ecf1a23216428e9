"""Which turns are to be told of, and what is told to whom.

Revision ID: 0001
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

OURS = "tool_events__"


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), server_default="", nullable=False)


def _time(name: str) -> sa.Column[float]:
    return sa.Column(name, sa.Float(), server_default="0", nullable=False)


def _number(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.Integer(), server_default="0", nullable=False)


def upgrade() -> None:
    """Make the tables. A column ``person`` says whose a row is, by which it goes when they are erased."""
    op.create_table(
        f"{OURS}begun",
        *(_text(name) for name in ("turn", "session", "origin", "person")),
        _number("over"),
        _time("since"),
        sa.PrimaryKeyConstraint("turn"),
    )
    op.create_table(
        f"{OURS}told",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), primary_key=True),
        *(_text(name) for name in ("event", "target", "name", "body", "state", "note", "person")),
        _number("tries"),
        _time("due"),
        _time("created"),
    )
    op.create_index(f"{OURS}told_once", f"{OURS}told", ["event", "target"], unique=True)
    op.create_index(f"{OURS}told_waiting", f"{OURS}told", ["state", "due"])
    op.create_index(f"{OURS}told_old", f"{OURS}told", ["created"])
