"""What people share with each other, with whom, and the items of shared memories.

Revision ID: 0001
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

OURS = "tool_shared__"


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), server_default="", nullable=False)


def _time(name: str) -> sa.Column[float]:
    return sa.Column(name, sa.Float(), server_default="0", nullable=False)


def upgrade() -> None:
    """Make the tables. A column ``person`` says whose a row is, by which it goes when they are erased."""
    op.create_table(
        f"{OURS}shares",
        *(_text(name) for name in ("id", "person", "kind", "name", "folder", "root")),
        _time("created"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(f"{OURS}shares_once", f"{OURS}shares", ["person", "kind", "name"], unique=True)
    op.create_table(
        f"{OURS}members",
        *(_text(name) for name in ("share", "person", "writes", "state", "told")),
        _time("since"),
        sa.PrimaryKeyConstraint("share", "person"),
    )
    op.create_index(f"{OURS}members_by_person", f"{OURS}members", ["person"])
    op.create_table(
        f"{OURS}items",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), primary_key=True),
        *(_text(name) for name in ("share", "person", "text", "outside")),
        _time("created"),
    )
    op.create_index(f"{OURS}items_by_share", f"{OURS}items", ["share"])
