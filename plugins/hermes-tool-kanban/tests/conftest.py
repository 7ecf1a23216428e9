"""Boards over tables that are kept open, as processes have them, and a kernel with a scripted model."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hermes_core.database import WRITE, Database, StoreBroker
from hermes_core.store.file_database import FileDatabase
from hermes_core.store.migrate import to_head
from hermes_core.store.tables import Tables as Opened
from hermes_tool_kanban import register_migrations
from hermes_tool_kanban.claims import Claims
from hermes_tool_kanban.moves import Moves
from hermes_tool_kanban.tasks import Boards, Tasks


class Rows(StoreBroker):
    """The plugin's tables in a database, as one process has it open. ``now`` is a clock that the test turns."""

    def __init__(self, database: Database) -> None:
        self.database, self.now = database, 1_767_225_600.0
        (migration,) = register_migrations(None)
        self._tables = Opened(database, "tool/kanban", migration)
        self._tables.prepare()
        self.boards, self.tasks, self.moves, self.claims = Boards(self), Tasks(self), Moves(self), Claims(self)

    async def database_status(self, task, status):
        """Put a task where no way of a test leads."""
        from hermes_tool_kanban import moving

        await self.transact(lambda tx: moving.change(tx, task, status=status))

    def address(self):
        return ""

    async def transact(self, work, begin=WRITE):
        return await self._tables.run(lambda tx: work(_Turned(tx, self)), begin)

    async def prepare(self, work):
        return lambda tx: self._tables.unit(work, tx)

    async def subscribe(self, name, call):
        return self.database.subscribe(f"{self._tables.prefix}{name}", call)


class _Turned:
    """A transaction by the clock of the test."""

    def __init__(self, tx, rows: Rows) -> None:
        self._tx, self._rows = tx, rows

    def clock(self):
        return self._rows.now

    def __getattr__(self, name):
        return getattr(self._tx, name)


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[[], Rows]]:
    """Open the tables once more, on the same file."""
    made: list[Database] = []

    def make() -> Rows:
        database = FileDatabase(tmp_path / "state.db")
        made.append(database)
        to_head(database)
        return Rows(database)

    yield make
    for database in made:
        database.close()


@pytest.fixture
def rows(opened) -> Rows:
    return opened()


@pytest.fixture
def served(database_url: str) -> Iterator[Callable[[], Rows]]:
    """Open the tables once more, on the same server."""
    from hermes_backend_postgresql.driver import PostgreSQL
    from hermes_core.store.store import SQL

    made: list[Database] = []

    def make() -> Rows:
        database = PostgreSQL().open(database_url, SQL)
        made.append(database)
        to_head(database)
        return Rows(database)

    yield make
    for database in made:
        database.close()
