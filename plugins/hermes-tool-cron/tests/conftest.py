"""Schedulers over tables that are kept open, as processes have them, and a clock that the test turns."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hermes_core.database import WRITE, Database, StoreBroker
from hermes_core.store.file_database import FileDatabase
from hermes_core.store.migrate import to_head
from hermes_core.store.tables import Tables
from hermes_tool_cron import register_migrations
from hermes_tool_cron.rows import Jobs

START = 1_767_225_600.0  # 2026-01-01 00:00 UTC


class Time:
    """A clock that the test turns."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> float:
        return self.now


class Opened(StoreBroker):
    """The plugin's tables in a database, as one process has it open."""

    def __init__(self, database: Database) -> None:
        self.database = database
        (migration,) = register_migrations(None)
        self._tables = Tables(database, "tool/cron", migration)
        self._tables.prepare()

    def address(self):
        return ""

    async def transact(self, work, begin=WRITE):
        return await self._tables.run(work, begin)

    async def prepare(self, work):
        return lambda tx: self._tables.unit(work, tx)

    async def subscribe(self, name, call):
        return self.database.subscribe(f"{self._tables.prefix}{name}", call)


@pytest.fixture
def clock() -> Time:
    return Time()


@pytest.fixture
def served(database_url: str, clock: Time) -> Iterator[Callable[[], Jobs]]:
    """Make the rows of one more scheduler on the same server."""
    from hermes_backend_postgresql.driver import PostgreSQL
    from hermes_core.store.store import SQL

    opened: list[Database] = []

    def make() -> Jobs:
        database = PostgreSQL().open(database_url, SQL)
        opened.append(database)
        to_head(database)
        return Jobs(Opened(database), clock)

    yield make
    for database in opened:
        database.close()


@pytest.fixture
def scheduler(tmp_path: Path, clock: Time) -> Iterator[Callable[[], Jobs]]:
    """Make the rows of one more scheduler on the same file."""
    opened: list[Database] = []

    def make() -> Jobs:
        database = FileDatabase(tmp_path / "state.db")
        opened.append(database)
        to_head(database)
        return Jobs(Opened(database), clock)

    yield make
    for database in opened:
        database.close()
