"""What a person does with a task: each way that it may go is one transaction. Who works on it is stopped by that."""

from typing import Any

import sqlalchemy as sa

from hermes_core.database import StoreBroker, TablesTransaction
from hermes_core.errors import UserError
from hermes_tool_kanban import moving
from hermes_tool_kanban.schema import links, tasks
from hermes_tool_kanban.values import Task
from hermes_tool_kit.units import unit

__all__ = ["Moves"]


class Moves:
    """Tasks on their way over the board, as people send them."""

    def __init__(self, store: StoreBroker) -> None:
        self.store = store

    @unit()
    def complete(self, tx: TablesTransaction, task: Task, result: str = "") -> Task:
        """Call a task done; what waits for it may begin. Raises UserError while it waits for others itself."""
        now = self._fresh(tx, task)
        if waits := moving.open_parents(tx, now.id):
            raise UserError(f"{now.id} waits for {', '.join(waits)}.", hint="Complete or unlink these first.")
        now = moving.close_run(tx, now, "withdrawn", "a person completed the task")
        more = {"result": result, "result_outside": False} if result else {}
        now = moving.move(tx, now, "done", "completed", result, **more)
        moving.free_children(tx, now)
        return now

    @unit()
    def block(self, tx: TablesTransaction, task: Task, why: str) -> Task:
        """Let a task rest until a person says otherwise."""
        now = moving.close_run(tx, self._fresh(tx, task), "withdrawn", "a person blocked the task")
        return moving.move(tx, now, "blocked", "blocked", why, error=why, kind="person")

    @unit()
    def unblock(self, tx: TablesTransaction, task: Task, text: str = "") -> Task:
        """Let a blocked task go on; what failed before counts no more."""
        now = self._fresh(tx, task)
        if now.status != "blocked":
            raise UserError(f"The task {now.id} is {now.status}, not blocked.")
        return moving.release(tx, now, "unblocked", text, error="", kind="", failures=0, due=0.0)

    @unit()
    def promote(self, tx: TablesTransaction, task: Task) -> Task:
        """Let what is in triage, scheduled or waits after a failure be claimed now. It still waits for its parents."""
        now = self._fresh(tx, task)
        if now.status == "ready":
            return moving.change(tx, now, due=0.0)
        if now.status == "todo":
            waits = ", ".join(moving.open_parents(tx, now.id))
            raise UserError(f"{now.id} waits for {waits}.", hint="It becomes ready when these are done, or unlinked.")
        if now.status not in ("triage", "scheduled"):
            raise UserError(f"The task {now.id} is {now.status}: there is nothing to promote.")
        return moving.release(tx, now, "promoted", due=0.0)

    @unit()
    def schedule(self, tx: TablesTransaction, task: Task, at: float) -> Task:
        """Let a task wait until an instant."""
        now = self._fresh(tx, task)
        if at <= tx.clock():
            raise UserError("That is over.", hint="Say an instant that is to come.")
        return moving.move(tx, now, "scheduled", "scheduled", due=at)

    @unit()
    def triage(self, tx: TablesTransaction, task: Task) -> Task:
        """Put a task back to where nobody takes it up."""
        return moving.move(tx, self._fresh(tx, task), "triage", "status", "triage")

    @unit()
    def archive(self, tx: TablesTransaction, task: Task) -> Task:
        """Take a task off its board. What waits for one that was never done is blocked by that."""
        now = moving.close_run(tx, self._fresh(tx, task), "withdrawn", "a person archived the task")
        now = moving.move(tx, now, "archived", "archived")
        if not now.completed:
            moving.strand_children(tx, now)
        return now

    @unit()
    def reopen(self, tx: TablesTransaction, task: Task) -> Task:
        """Have a task that is over done again. What waits for it and has not begun waits again."""
        now = self._fresh(tx, task)
        if now.status not in ("done", "archived"):
            raise UserError(f"The task {now.id} is {now.status}: it is not over.")
        now = moving.release(tx, now, "reopened", result="", result_outside=False, rejections=0, blocks=0)
        mine = sa.select(links.c.child).where(links.c.parent == now.id)
        for child in moving.tasks_where(tx, tasks.c.id.in_(mine), tasks.c.status == "ready"):
            moving.move(tx, child, "todo", "linked", f"waits for {now.id} again")
        return now

    @unit()
    def assign(self, tx: TablesTransaction, task: Task, worker: str) -> Task:
        """Give a task to somebody else, who does not have it yet. Raises UserError while somebody works on it."""
        now = self._fresh(tx, task)
        if now.run:
            raise UserError(f"{now.assignee or 'Somebody'} works on {now.id}.", hint="Reclaim it first.")
        if worker and worker == now.options.reviewer:
            raise UserError(f"{worker} reviews {now.id}, and so cannot do it.")
        now = moving.change(tx, now, assignee=worker)
        moving.happen(tx, now, "assigned", worker or "whoever is free")
        return now

    @unit()
    def edit(self, tx: TablesTransaction, /, task: Task, **values: Any) -> Task:
        """Keep what a person changes of a task: then its words are theirs."""
        now = moving.change(tx, self._fresh(tx, task), **values)
        moving.happen(tx, now, "edited", ", ".join(sorted(values)))
        return now

    @unit()
    def reclaim(self, tx: TablesTransaction, task: Task) -> Task:
        """Take a task from whoever works on it; it can be claimed again at once, and nothing counts as failed."""
        now = self._fresh(tx, task)
        if not now.run:
            raise UserError(f"Nobody works on {now.id}.")
        now = moving.close_run(tx, now, "reclaimed", "a person reclaimed the task")
        if now.status == "review":
            moving.happen(tx, now, "reclaimed")
            return now
        return moving.release(tx, now, "reclaimed", due=0.0)

    @unit()
    def approve(self, tx: TablesTransaction, task: Task) -> Task:
        """Say yes to what is in review: it is done."""
        now = self._in_review(tx, task)
        now = moving.close_run(tx, now, "withdrawn", "a person reviewed it")
        now = moving.move(tx, now, "done", "completed", now.result)
        moving.free_children(tx, now)
        return now

    @unit()
    def reject(self, tx: TablesTransaction, task: Task, why: str) -> Task:
        """Say no to what is in review: it is worked on again, and told why."""
        now = moving.close_run(tx, self._in_review(tx, task), "withdrawn", "a person reviewed it")
        return moving.release(tx, now, "rejected", why, error=why, rejections=now.rejections + 1)

    def _fresh(self, tx: TablesTransaction, task: Task) -> Task:
        tx.alone("tasks")
        return moving.task_of(tx, task.id)

    def _in_review(self, tx: TablesTransaction, task: Task) -> Task:
        now = self._fresh(tx, task)
        if now.status != "review":
            raise UserError(f"The task {now.id} is {now.status}, not in review.")
        return now
