"""Goals, their rounds, and the evidence of each.

Revision ID: 0001
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

OURS = "tool_goals__"


def _text(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.Text(), server_default="", nullable=False) for name in names]


def _real(*names: str) -> list[sa.Column[float]]:
    return [sa.Column(name, sa.Float(), server_default="0", nullable=False) for name in names]


def _number(*names: str) -> list[sa.Column[int]]:
    return [sa.Column(name, sa.BigInteger(), server_default="0", nullable=False) for name in names]


def upgrade() -> None:
    """Make the tables. A column ``person`` says whose a row is, by which it goes when they are erased."""
    op.create_table(
        f"{OURS}goals",
        *_text("id", "profile", "person", "session", "text", "checks", "state", "phase", "why", "left", "until"),
        *_text("folder", "door", "chat", "speaker", "bounds", "report", "holder", "place"),
        *_real("interval", "money", "seconds", "used_money", "used_seconds", "at", "created", "changed", "beat"),
        *_number("round", "version", "turns", "used_turns", "failures", "garbage", "owed", "reports", "pid"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(f"{OURS}goals_by_session", f"{OURS}goals", ["session"])
    op.create_index(f"{OURS}goals_by_state", f"{OURS}goals", ["state"])
    # The id is the goal and its round, so that of two who look at once only one plans it.
    op.create_table(
        f"{OURS}rounds",
        *_text("id", "goal", "person", "said", "turn", "answer", "verdict", "why", "left", "proof", "acts", "files"),
        *_real("money", "seconds", "created", "ended"),
        *_number("number", "outside"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(f"{OURS}rounds_by_goal", f"{OURS}rounds", ["goal", "number"])
    op.create_table(
        f"{OURS}evidence",
        *_text("id", "goal", "person", "kind", "what", "status", "output", "session"),
        *_real("at", "seconds"),
        *_number("round", "number", "passed", "outside"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(f"{OURS}evidence_by_goal", f"{OURS}evidence", ["goal", "round"])
