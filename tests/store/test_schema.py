"""The tables: frozen text, migrations and what Core says are one."""

import importlib.util
import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import frozen_sql
import pytest

from hermes_core.errors import StoreError
from hermes_core.store.file_database import FileDatabase
from hermes_core.store.migrate import to_head, upgrade
from hermes_core.store.store import open_store
from hermes_core.store.versions import head

VERSION_FILES = sorted(Path(head.__file__).parents[1].glob("[0-9]*.py"))


def layout(connection: sqlite3.Connection) -> dict[str, list[str]]:
    """What every table and index is made of; the order of constraints means nothing, that of columns does."""
    rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name != 'alembic_version'")
    made = {name: re.split(r",(?=UNIQUE|FOREIGN|PRIMARY)", "".join(sql.split()).rstrip(")")) for name, sql in rows}
    return {name: [parts[0], *sorted(part.rstrip(")") for part in parts[1:])] for name, parts in made.items()}


def test_what_is_frozen_is_what_core_says_today() -> None:
    for path, source in frozen_sql.frozen_sources().items():
        assert path.read_text(encoding="utf-8") == source


def test_migrating_from_nothing_gives_the_frozen_tables(tmp_path: Path) -> None:
    fresh = FileDatabase(tmp_path / "fresh.db")
    to_head(fresh)
    migrated = FileDatabase(tmp_path / "migrated.db")
    migrated.transact(lambda tx: upgrade(tx, migrated.place))
    assert layout(migrated.connection) == layout(fresh.connection)
    for query in ("SELECT version_num FROM alembic_version", "SELECT * FROM search_config ORDER BY k"):
        assert migrated.connection.execute(query).fetchall() == fresh.connection.execute(query).fetchall() != []
    to_head(migrated)
    for engine in (fresh, migrated):
        engine.close()


def test_the_newest_revision_is_the_frozen_head() -> None:
    spec = importlib.util.spec_from_file_location("newest", VERSION_FILES[-1])
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.revision == head.HEAD


def test_a_migration_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    database = tmp_path / "state.db"
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE turns (x)")  # in the way of the revision's own table
    connection.close()
    engine = FileDatabase(database)
    before = layout(engine.connection)
    with pytest.raises(Exception, match="turns"):
        engine.transact(lambda tx: upgrade(tx, str(database)))
    assert layout(engine.connection) == before
    assert not engine.connection.in_transaction
    engine.close()


def test_a_newer_schema_is_refused_in_plain_words(tmp_path: Path) -> None:
    database = tmp_path / "state.db"
    open_store(database).close()
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    with pytest.raises(StoreError, match="newer Hermes"):
        open_store(database)


def test_the_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    database = tmp_path / "state.db"
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")
    connection.close()
    with pytest.raises(StoreError, match="another program"):
        open_store(database)
    with sqlite3.connect(database) as connection:
        assert [row[0] for row in connection.execute("SELECT name FROM sqlite_master")] == ["recipes"]
    connection.close()


def test_opening_and_using_a_store_imports_nothing_heavy(tmp_path: Path) -> None:
    program = (
        "import asyncio, sys; from pathlib import Path; from hermes_core.store.store import open_store\n"
        "from hermes_core.types import Principal\n"
        f"store = open_store(Path({str(tmp_path / 'state.db')!r}))\n"
        "asyncio.run(store.sessions.list(Principal())); store.close()\n"
        "heavy = ('sqlalchemy', 'alembic', 'psycopg', 'cattrs', 'yaml', 'importlib.metadata')\n"
        "print([m for m in heavy if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_several_processes_may_make_the_same_store_at_once(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from hermes_core.store.store import open_store\n"
        "sys.stdin.readline(); open_store(Path(sys.argv[1])).close()"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "state.db")]
    started = [subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(4)]
    for process in started:
        assert process.stdin is not None
        process.stdin.write(b"\n")
        process.stdin.flush()
    assert [(process.communicate()[1], process.returncode) for process in started] == [(b"", 0)] * 4
