"""Jobs, their instants, and who looks at the clock.

Revision ID: 0001
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

OURS = "tool_cron__"


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), server_default="", nullable=False)


def _time(name: str) -> sa.Column[float]:
    return sa.Column(name, sa.Float(), server_default="0", nullable=False)


def _number(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), server_default="0", nullable=False)


def upgrade() -> None:
    """Make the tables. A column ``person`` says whose a row is, by which it goes when they are erased."""
    op.create_table(
        f"{OURS}jobs",
        *(_text(name) for name in ("id", "person", "name", "schedule", "zone", "prompt", "options", "state", "why")),
        *(_time(name) for name in ("created", "anchor", "due", "at")),
        _number("number"),
        _number("fired"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(f"{OURS}jobs_once", f"{OURS}jobs", ["person", "name"], unique=True)
    op.create_index(f"{OURS}jobs_at", f"{OURS}jobs", ["state", "at"])
    # The id is the job and its instant, so that of two schedulers only one writes an instant down.
    op.create_table(
        f"{OURS}runs",
        *(
            _text(name)
            for name in ("id", "job", "name", "person", "state", "why", "session", "said", "answer", "shown")
        ),
        _text("delivery"),
        *(_time(name) for name in ("due", "created", "started", "ended")),
        _number("outside"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(f"{OURS}runs_by_job", f"{OURS}runs", ["job", "due"])
    op.create_index(f"{OURS}runs_by_person", f"{OURS}runs", ["person", "due"])
    op.create_index(f"{OURS}runs_by_state", f"{OURS}runs", ["state", "due"])
    op.create_index(f"{OURS}runs_by_delivery", f"{OURS}runs", ["delivery"])
    op.create_table(
        f"{OURS}clocks",
        *(_text(name) for name in ("holder", "place")),
        _number("pid"),
        _time("beat"),
        _time("looked"),
        sa.PrimaryKeyConstraint("holder"),
    )
