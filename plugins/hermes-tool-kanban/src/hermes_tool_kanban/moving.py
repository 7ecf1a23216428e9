"""What happens to a task inside a transaction: it moves, which is checked, written down, and told whom it concerns."""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from attrs import evolve

from hermes_core.codec import clean
from hermes_core.database import TablesTransaction
from hermes_core.errors import UnknownName, UserError
from hermes_tool_kanban.schema import events, links, notices, runs, tasks
from hermes_tool_kanban.values import HAND, PERSON, Task, check_move

__all__ = [
    "CHANGED", "LONGEST", "TOLD", "ancestors", "change", "close_run", "free_children", "happen", "move", "open_parents",
    "release", "strand_children", "task_of", "tasks_where", "tell_about",
]  # fmt: skip

CHANGED = "tasks"  # what is told when anything changed
LONGEST = 100_000  # characters of one text that are kept
TOLD = frozenset({"completed", "blocked", "gave_up", "review"})  # what people want to know


def tasks_where(tx: TablesTransaction, *where: sa.ColumnElement[bool], limit: int = 0) -> list[Task]:
    """Return tasks, the most urgent first, of those the oldest."""
    wanted = sa.select(tasks).where(*where).order_by(tasks.c.priority.desc(), tasks.c.created, tasks.c.id)
    return [Task.of(row) for row in tx.execute(wanted.limit(limit) if limit else wanted)]


def task_of(tx: TablesTransaction, task: str) -> Task:
    """Return a task as it stands. Raises UnknownName."""
    found = tasks_where(tx, tasks.c.id == clean(task))
    if not found:
        raise UnknownName("task", task, ())
    return found[0]


def change(tx: TablesTransaction, task: Task, **values: Any) -> Task:
    """Keep what is new of a task; it has another number then."""
    said: dict[str, Any] = {
        name: clean(value)[:LONGEST] if isinstance(value, str) else value for name, value in values.items()
    }
    new = evolve(task, number=task.number + 1, **said)
    tx.execute(sa.update(tasks).where(tasks.c.id == task.id).values(**new.row()))
    tx.tell(CHANGED)
    return new


def move(tx: TablesTransaction, task: Task, status: str, event: str, text: str = "", /, **values: Any) -> Task:
    """Let a task go to another status, where it may, and say what happened by that. Raises UserError."""
    check_move(task, status)
    now = tx.clock()
    if status == "done":
        values = {"completed": now, "error": "", "kind": "", "failures": 0, **values}
    elif task.status in ("done", "archived"):
        values = {"completed": 0.0, **values}  # it is opened again
    if status == "archived":
        values["completed"] = task.completed
    if status == "running" and not task.started:
        values["started"] = now
    new = change(tx, task, status=status, **values)
    happen(tx, new, event, text)
    if event in TOLD and (event != "review" or new.options.reviewer == PERSON):
        tell_about(tx, new, event, text)
    return new


def happen(tx: TablesTransaction, task: Task, kind: str, text: str = "") -> None:
    """Write down that something happened to a task."""
    values = {"board": task.board, "task": task.id, "person": task.person, "kind": kind}
    tx.execute(sa.insert(events).values(**values, text=clean(text)[:2000], at=tx.clock()))
    tx.tell(CHANGED)


def tell_about(tx: TablesTransaction, task: Task, kind: str, text: str) -> None:
    """Owe a notice to every target of a task; it is sent later, once."""
    for target in task.options.deliver:
        if target != "local":
            values = {"id": f"{task.id}/{task.number}/{target}", "task": task.id, "person": task.person}
            said = clean(f"{kind}\n{text}")[:LONGEST]
            outside = int(task.outside or task.result_outside)
            tx.execute(sa.insert(notices).values(
                **values, target=target, text=said, state="owed", outside=outside, created=tx.clock()
            ))  # fmt: skip


def open_parents(tx: TablesTransaction, task: str) -> list[str]:
    """Return the tasks that one waits for: its parents that were never done."""
    wanted = (
        sa.select(tasks.c.id)
        .where(links.c.child == task, links.c.parent == tasks.c.id, tasks.c.completed == 0)
        .order_by(tasks.c.id)
    )
    return [str(row["id"]) for row in tx.execute(wanted)]


def release(tx: TablesTransaction, task: Task, event: str, text: str = "", /, **values: Any) -> Task:
    """Let a task be claimed, as soon as all it waits for is done."""
    return move(tx, task, "todo" if open_parents(tx, task.id) else "ready", event, text, **values)


def free_children(tx: TablesTransaction, task: Task) -> Sequence[Task]:
    """Let those be claimed that waited for a task that is done, and for nothing else by now."""
    mine = sa.select(links.c.child).where(links.c.parent == task.id)
    waiting = tasks_where(tx, tasks.c.id.in_(mine), tasks.c.status == "todo")
    return [move(tx, child, "ready", "promoted") for child in waiting if not open_parents(tx, child.id)]


def strand_children(tx: TablesTransaction, task: Task) -> None:
    """Stop those that wait for what will not be done: a person says what becomes of them."""
    mine = sa.select(links.c.child).where(links.c.parent == task.id)
    why = f"{task.id}, which it waits for, was archived before it was done"
    for child in tasks_where(tx, tasks.c.id.in_(mine), tasks.c.status.in_(("todo", "scheduled"))):
        move(tx, child, "blocked", "blocked", why, kind="dependency", error=why)


def close_run(tx: TablesTransaction, task: Task, outcome: str, why: str = "") -> Task:
    """Take a task from whoever has it; their turn is stopped by the one who plays it. A person's claim has no turn."""
    if task.run:
        same = sa.and_(runs.c.id == task.run, runs.c.state == "open")
        values: dict[str, Any] = {"state": "closing", "outcome": outcome, "error": clean(why)[:2000]}
        if tx.execute(sa.select(runs.c.id).where(same, runs.c.holder == HAND)):
            values |= {"state": "over", "ended": tx.clock(), "outcome": HAND if outcome == "withdrawn" else outcome}
        tx.execute(sa.update(runs).where(same).values(**values))
        task = change(tx, task, run="")
    return task


def ancestors(tx: TablesTransaction, task: str) -> set[str]:
    """Return all that a task waits for, and what that waits for, and so on."""
    found: set[str] = set()
    front = {task}
    while front:
        rows = tx.execute(sa.select(links.c.parent).where(links.c.child.in_(front)))
        front = {str(row["parent"]) for row in rows} - found
        found |= front
        if len(found) > 20_000:
            raise UserError("That hangs together with too many tasks.")
    return found
