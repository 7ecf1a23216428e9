"""The tables as statements name them. What they are made of is in ``versions``."""

import sqlalchemy as sa
from attrs import fields

from hermes_tool_kanban.values import Attachment, Board, Comment, Run, Task

__all__ = ["boards", "comments", "contents", "dispatchers", "events", "files", "links", "notices", "runs", "tasks"]


def _table(name: str, *columns: str) -> sa.Table:
    return sa.Table(f"tool_kanban__{name}", sa.MetaData(), *(sa.Column(column) for column in columns))


boards = _table("boards", *(one.name for one in fields(Board)))
tasks = _table("tasks", *(one.name for one in fields(Task)))
links = _table("links", "parent", "child", "board", "person")
runs = _table("runs", *(one.name for one in fields(Run)))
comments = _table("comments", *(one.name for one in fields(Comment)))
files = _table("files", *(one.name for one in fields(Attachment)))
contents = _table("bytes", "id", "person", "data")
events = _table("events", "id", "board", "task", "person", "kind", "text", "at")
notices = _table("notices", "id", "task", "person", "target", "text", "state", "outside", "created")
dispatchers = _table("dispatchers", "holder", "place", "workers", "pid", "beat", "looked")
