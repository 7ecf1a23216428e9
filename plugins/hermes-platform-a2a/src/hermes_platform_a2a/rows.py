"""The rows of tasks, and of the messages that went on with them. Each method is one transaction."""

from collections.abc import Callable, Sequence
from typing import Any

import sqlalchemy as sa

from hermes_core.codec import clean
from hermes_core.database import READ, Prepared, StoreBroker, TablesTransaction, made
from hermes_core.errors import Conflict
from hermes_core.values import frozen
from hermes_tool_kit.units import unit

__all__ = ["OVER", "Row", "Rows"]

OVER = ("completed", "failed", "canceled", "rejected")  # states after which nothing comes


@frozen(kw_only=True)
class Row:
    """A task as it is stored: its ``body`` and ``artifacts`` are JSON of the protocol's own types."""

    id: str
    person: str
    context: str
    state: str
    body: str
    artifacts: str = ""
    created: float = 0.0
    updated: float = 0.0


def _table(name: str, *columns: str) -> sa.Table:
    return sa.Table(f"platform_a2a__{name}", sa.MetaData(), *(sa.Column(column) for column in columns))


tasks = _table("tasks", "id", "person", "context", "state", "body", "artifacts", "created", "updated")
answers = _table("answers", "person", "message", "task", "created")

_BARE = [column for column in tasks.c if column.name != "artifacts"]


class Rows:
    """What was asked, and what came of it."""

    def __init__(self, store: StoreBroker) -> None:
        self.store = store

    async def add(self, row: Row) -> bool:
        """Write a new task; False where it is there already."""
        try:
            await self._insert(row)
        except Conflict:
            return False
        return True

    @unit()
    def _insert(self, tx: TablesTransaction, row: Row) -> None:
        now = tx.clock()
        tx.execute(sa.insert(tasks).values(**_values(row), created=now, updated=now))

    @unit(READ)
    def get(self, tx: TablesTransaction, person: str, name: str) -> Row | None:
        """Return a task of a person, or None."""
        wanted = sa.select(tasks).where(tasks.c.id == clean(name), tasks.c.person == person)
        return next((made(Row, row) for row in tx.execute(wanted)), None)

    async def save(self, row: Row) -> None:
        """Write what became of a task; what is over stays as it is."""
        await self.store.transact(_saves(row))

    async def ending(self, row: Row) -> Prepared[object]:
        """Prepare the same for the commit that ends its turn."""
        return await self.store.prepare(_saves(row))

    @unit(READ)
    def left(self, tx: TablesTransaction) -> Sequence[Row]:
        """Return all that are not over, oldest first."""
        wanted = sa.select(tasks).where(tasks.c.state.not_in(OVER)).order_by(tasks.c.created, tasks.c.id)
        return [made(Row, row) for row in tx.execute(wanted)]

    @unit(READ)
    def many_open(self, tx: TablesTransaction, person: str) -> int:
        """Return how many of a person are not over."""
        wanted = sa.select(sa.func.count().label("many")).where(tasks.c.person == person, tasks.c.state.not_in(OVER))
        return int(tx.execute(wanted)[0]["many"])

    @unit(READ)
    def page(
        self,
        tx: TablesTransaction,
        person: str,
        *,
        context: str = "",
        state: str = "",
        since: float = 0.0,
        before: tuple[float, str] | None = None,
        most: int = 50,
        artifacts: bool = False,
    ) -> tuple[Sequence[Row], int]:
        """Return so many tasks of a person, changed last first, from after ``before`` on; and how many there are."""
        where = [tasks.c.person == person, tasks.c.updated >= since]
        where += [tasks.c.context == clean(context)] if context else []
        where += [tasks.c.state == state] if state else []
        many = int(tx.execute(sa.select(sa.func.count().label("many")).where(*where))[0]["many"])
        if before:
            at, name = before
            where.append(sa.or_(tasks.c.updated < at, sa.and_(tasks.c.updated == at, tasks.c.id < name)))
        wanted = sa.select(*(tasks.c if artifacts else _BARE)).where(*where)
        wanted = wanted.order_by(tasks.c.updated.desc(), tasks.c.id.desc()).limit(most)
        return [made(Row, row) for row in tx.execute(wanted)], many

    @unit(READ)
    def answered(self, tx: TablesTransaction, person: str, message: str) -> bool:
        """Whether a message went on with a task before."""
        wanted = sa.select(answers.c.task).where(answers.c.person == person, answers.c.message == clean(message))
        return bool(list(tx.execute(wanted)))

    async def answer(self, row: Row, message: str) -> bool:
        """Write that a message goes on with a task, and the task with it; False where it came before."""
        try:
            await self._answer(row, message)
        except Conflict:
            return False
        return True

    @unit()
    def _answer(self, tx: TablesTransaction, row: Row, message: str) -> None:
        said = {"person": row.person, "message": clean(message), "task": row.id, "created": tx.clock()}
        tx.execute(sa.insert(answers).values(**said))
        _saves(row)(tx)

    @unit()
    def forget(self, tx: TablesTransaction, seconds: float) -> None:
        """Forget what is over for longer than that."""
        old = tx.clock() - seconds
        tx.execute(sa.delete(tasks).where(tasks.c.updated < old, tasks.c.state.in_(OVER)))
        tx.execute(sa.delete(answers).where(answers.c.created < old))


def _values(row: Row) -> dict[str, Any]:
    names = ("id", "person", "context", "state", "body", "artifacts")
    return {name: clean(getattr(row, name)) for name in names}


def _saves(row: Row) -> Callable[[TablesTransaction], None]:
    def work(tx: TablesTransaction) -> None:
        mine = sa.update(tasks).where(tasks.c.id == row.id, tasks.c.state.not_in(OVER))
        tx.execute(
            mine.values(state=row.state, body=clean(row.body), artifacts=clean(row.artifacts), updated=tx.clock())
        )

    return work
