"""Lessons, every version of each, the ledger of what happened, and the reviews that wait.

Revision ID: 0001
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

OURS = "tool_lessons__"


def _text(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.Text(), server_default="", nullable=False) for name in names]


def _real(*names: str) -> list[sa.Column[float]]:
    return [sa.Column(name, sa.Float(), server_default="0", nullable=False) for name in names]


def _number(*names: str) -> list[sa.Column[int]]:
    return [sa.Column(name, sa.BigInteger(), server_default="0", nullable=False) for name in names]


def upgrade() -> None:
    """Make the tables. A column ``person`` says whose a row is, by which it goes when they are erased."""
    op.create_table(
        f"{OURS}lessons",
        *_text("id", "profile", "person", "scope", "place", "trigger", "text", "state", "asks", "sources", "session"),
        *_text("replaces", "why", "recent"),
        *_number("tainted", "pinned", "version", "rev", "offered", "uses", "wins"),
        *_real("created", "changed", "last"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(f"{OURS}lessons_by_rev", f"{OURS}lessons", ["rev"])
    op.create_index(f"{OURS}lessons_by_person", f"{OURS}lessons", ["person", "state"])
    # A version is never changed: what a lesson was at a number is found again, byte for byte.
    op.create_table(
        f"{OURS}versions",
        *_text("id", "lesson", "profile", "person", "content", "why", "author"),
        *_number("number", "rev"),
        *_real("at"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(f"{OURS}versions_by_lesson", f"{OURS}versions", ["lesson", "number"])
    op.create_index(f"{OURS}versions_by_rev", f"{OURS}versions", ["rev"])
    # The id says what happened to which turn, so that nothing is written twice.
    op.create_table(
        f"{OURS}events",
        *_text("id", "profile", "person", "session", "turn", "kind", "lesson", "text"),
        *_real("value", "at"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(f"{OURS}events_by_session", f"{OURS}events", ["session", "kind", "at"])
    op.create_index(f"{OURS}events_by_turn", f"{OURS}events", ["turn", "kind"])
    op.create_index(f"{OURS}events_by_lesson", f"{OURS}events", ["lesson", "at"])
    op.create_index(f"{OURS}events_by_person", f"{OURS}events", ["person", "kind", "at"])
    op.create_table(
        f"{OURS}reviews",
        *_text("id", "profile", "person", "session", "reason", "state", "fork", "why", "holder", "place"),
        *_number("number", "tokens", "found", "asked", "pid"),
        *_real("due", "created", "ended", "money", "beat"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(f"{OURS}reviews_by_state", f"{OURS}reviews", ["state"])
    op.create_index(f"{OURS}reviews_by_session", f"{OURS}reviews", ["session"])
    op.create_table(
        f"{OURS}frozen",
        *_text("id", "profile", "person"),
        *_real("at"),
        sa.PrimaryKeyConstraint("id"),
    )
