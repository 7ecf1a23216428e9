"""Boards, tasks, their links, claims, remarks, files, what happened, and who is to be told.

Revision ID: 0001
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

OURS = "tool_kanban__"


def _text(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.Text(), server_default="", nullable=False) for name in names]


def _time(*names: str) -> list[sa.Column[float]]:
    return [sa.Column(name, sa.Float(), server_default="0", nullable=False) for name in names]


def _number(*names: str) -> list[sa.Column[int]]:
    return [sa.Column(name, sa.BigInteger(), server_default="0", nullable=False) for name in names]


def _table(name: str, *columns: list[sa.Column[str]] | list[sa.Column[float]] | list[sa.Column[int]],
           key: tuple[str, ...] = ("id",)) -> None:  # fmt: skip
    op.create_table(f"{OURS}{name}", *(one for several in columns for one in several), sa.PrimaryKeyConstraint(*key))


def _index(table: str, *columns: str, unique: bool = False) -> None:
    op.create_index(f"{OURS}{table}_by_{'_'.join(columns)}", f"{OURS}{table}", list(columns), unique=unique)


def upgrade() -> None:
    """Make the tables. A column ``person`` says whose a row is, by which it goes when they are erased."""
    _table("boards", _text("id", "person", "slug", "name", "folder"), _number("current", "archived"), _time("created"))
    _index("boards", "person", "slug", unique=True)
    _table(
        "tasks",
        _text("id", "board", "person", "title", "body", "assignee", "status", "maker", "options", "mark", "run"),
        _text("result", "error", "kind"),
        _number("priority", "outside", "result_outside", "failures", "blocks", "rejections", "claims", "number"),
        _time("due", "created", "started", "completed"),
    )
    _index("tasks", "board", "mark", unique=True)
    _index("tasks", "status", "due")
    _table("links", _text("parent", "child", "board", "person"), key=("parent", "child"))
    _index("links", "child")
    # The id is the task and the number of the claim, so that of two who claim it only one does.
    _table(
        "runs",
        _text("id", "task", "board", "person", "role", "worker", "session", "folder", "state", "outcome", "summary"),
        _text("meta", "error", "note", "profile", "holder", "place"),
        _number("outside", "nudges", "taken", "pid"),
        _time("beat", "created", "heard", "ended"),
    )
    _index("runs", "state")
    _index("runs", "session")
    _index("runs", "task")
    _table("comments", _text("id", "task", "person", "author", "text"), _number("written", "outside"), _time("created"))
    _index("comments", "task")
    _table("files", _text("id", "task", "person", "name", "media", "author"), _number("size", "outside"),
           _time("created"))  # fmt: skip
    _index("files", "task")
    op.create_table(
        f"{OURS}bytes",
        *_text("id", "person"),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        f"{OURS}events",
        sa.Column("id", number, primary_key=True, autoincrement=True),
        *_text("board", "task", "person", "kind", "text"),
        *_time("at"),
    )
    _index("events", "task")
    _index("events", "board")
    _table("notices", _text("id", "task", "person", "target", "text", "state"), _number("outside"), _time("created"))
    _index("notices", "state")
    _table("dispatchers", _text("holder", "place", "workers"), _number("pid"), _time("beat", "looked"), key=("holder",))
