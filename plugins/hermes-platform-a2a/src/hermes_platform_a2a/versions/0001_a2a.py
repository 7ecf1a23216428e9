"""The tasks of other agents, and the messages that went on with them.

Revision ID: 0001
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

OURS = "platform_a2a__"


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), server_default="", nullable=False)


def _time(name: str) -> sa.Column[float]:
    return sa.Column(name, sa.Float(), server_default="0", nullable=False)


def upgrade() -> None:
    """Make the tables. A column ``person`` says whose a row is, by which it goes when they are erased."""
    tasks = f"{OURS}tasks"
    op.create_table(
        tasks,
        *(_text(name) for name in ("id", "person", "context", "state", "body", "artifacts")),
        _time("created"),
        _time("updated"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(f"{tasks}_listed", tasks, ["person", "updated", "id"])
    op.create_index(f"{tasks}_open", tasks, ["state", "created"])
    op.create_table(
        f"{OURS}answers",
        *(_text(name) for name in ("person", "message", "task")),
        _time("created"),
        sa.PrimaryKeyConstraint("person", "message"),
    )
