"""A store of an older Hermes is brought to head: with all its rows, or not at all."""

import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hermes_backend_postgresql.driver import PostgreSQL
from hermes_backend_postgresql.server import Server
from hermes_core.database import Database, Transaction
from hermes_core.errors import StoreError
from hermes_core.store.file_database import FileDatabase
from hermes_core.store.migrate import to_head, upgrade
from hermes_core.store.store import open_store
from hermes_core.store.versions.head import HEAD, SQL
from hermes_core.types import Message, Principal, Session, Text

ME = Principal()
ROWS = [  # as the release with revision 0001 wrote them
    "INSERT INTO owners (id, profile, person) VALUES (1, 'default', 'owner')",
    (
        "INSERT INTO sessions (id, owner, origin, title, created, updated, last, messages, tool_calls, input, cost)"
        " VALUES ('s', 1, 'cli', 'Trip', 5.25, 6.5, 3, 3, 1, 10, 0.25)"
    ),
    "INSERT INTO prompts (session_id, prompt, tools) VALUES ('s', 'You are', '[]')",
    (
        "INSERT INTO turns (id, session_id, owner, holder, state, provider, model, started, ended, input, calls)"
        " VALUES ('t', 's', 1, 'cli', 'done', 'p', 'm', 1700000000.125, 1700000001, 10, 1)"
    ),
    *(
        "INSERT INTO messages (id, session_id, owner, turn_id, role, body, created) VALUES"
        f" ({number}, 's', 1, 't', '{role}', '{body}', 5.5)"
        for number, role, body in (
            (1, "user", '{"role":"user","parts":[{"type":"text","text":"pack the needle"}]}'),
            (2, "assistant", '{"role":"assistant","parts":[{"type":"call","id":"c","name":"ls","arguments":{}}]}'),
            (3, "tool", '{"role":"tool","parts":[{"type":"result","call_id":"c","name":"ls","parts":[]}]}'),
        )
    ),
    "INSERT INTO search (rowid, words) VALUES (1, ' \ue0001 pack the needle ')",
    (
        "INSERT INTO tool_calls (session_id, owner, turn_id, message_id, call_id, name, arguments, outcome, mark,"
        " result_id) VALUES ('s', 1, 't', 2, 'c', 'ls', '{}', 'ok', 4000000000, 3)"
    ),
    "INSERT INTO leases (session_id, holder, place, fence, pid, beat) VALUES ('s', '', 'here', 7, 1, 9.5)",
    "INSERT INTO inbox (owner, platform, account, event_id, turn_id, received) VALUES (1, 'irc', 'a', '1', 't', 5.5)",
]
TABLES = ("owners", "sessions", "prompts", "turns", "messages", "tool_calls", "leases", "inbox")
MIGRATOR = """
import json, os, signal, sys
from pathlib import Path
import psycopg
import alembic.runtime.environment
from hermes_backend_postgresql.driver import PostgreSQL
from hermes_core.store import file_database
from hermes_core.store.store import open_store

def play(path, url, at):
    left = [at]
    def count(*_):
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
    class Traced(file_database.sqlite3.Connection):
        def __init__(self, *a, **k):
            super().__init__(*a, **k)
            self.set_trace_callback(count)
    connect, execute = file_database.sqlite3.connect, psycopg.Cursor.execute
    file_database.sqlite3.connect = lambda *a, **k: connect(*a, factory=Traced, **k)
    psycopg.Cursor.execute = lambda self, *a, **k: (count(), execute(self, *a, **k))[1]
    open_store(Path(path), url=url, driver=PostgreSQL()).close()

for line in sys.stdin:
    child = os.fork()
    if not child:
        status = 1
        try:
            play(*json.loads(line))
            status = 0
        finally:
            os._exit(status)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


def older(database: Database) -> None:
    """Make the tables of revision 0001 in an empty database, with rows in each."""

    def work(tx: Transaction) -> None:
        upgrade(tx, database.place, to="0001")
        for sql in ROWS:
            tx.connection.execute(sql)

    database.transact(work)


def contents(database: Database) -> dict[str, list[dict[str, object]]]:
    """Every row of every table, by column, and the revision."""

    def read(tx: Transaction) -> dict[str, list[dict[str, object]]]:
        run = tx.connection.execute
        found = {name: [dict(zip(r.keys(), r, strict=True)) for r in run(f"SELECT * FROM {name}")] for name in TABLES}
        return {**found, "revision": [{"is": run("SELECT version_num FROM alembic_version").fetchone()[0]}]}

    return database.transact(read)


@pytest.fixture
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    """Empty for a file, or an empty database on a server."""
    if request.param == "sqlite":
        yield ""
        return
    cluster: Any = request.getfixturevalue("cluster")
    made = cluster.database()
    yield made
    cluster.drop(made)


@pytest.fixture
def database(tmp_path: Path, url: str) -> Iterator[Database]:
    made = Server(url, SQL) if url else FileDatabase(tmp_path / "state.db")
    older(made)
    yield made
    made.close()


async def test_an_older_store_is_brought_to_head_with_all_it_holds(
    database: Database, tmp_path: Path, url: str
) -> None:
    before = contents(database)
    database.close()
    store = open_store(tmp_path / "state.db", url=url, driver=PostgreSQL())
    after = contents(store.database)
    assert after.pop("revision") == [{"is": HEAD}]
    before.pop("revision")
    for name, rows in before.items():
        assert [{k: row[k] for k in old} for row, old in zip(after[name], rows, strict=True)] == rows, name
    assert [m.role for m in await store.history.load("s")] == ["user", "assistant", "tool"]
    assert [hit.message_id for hit in await store.history.search(ME, "needle")] == [1]
    [entry] = await store.history.tool_calls(ME)
    assert entry.outcome == "ok"
    await store.sessions.create(Session(id="new", origin="cli"))
    if url:  # the rows above named their ids; those of new rows come from the server's counters
        store.database.transact(lambda tx: tx.connection.execute("SELECT setval('messages_id_seq', 3)"))
    await store.history.add("new", Message(role="user", parts=(Text(text="goes on"),)))
    assert len(await store.sessions.list(ME)) == 2
    store.close()


@pytest.mark.long
def test_a_fault_at_any_step_of_a_migration_leaves_the_older_store(
    database: Database, tmp_path: Path, url: str, pytestconfig: pytest.Config
) -> None:
    before = contents(database)
    failing: Callable[[int], Database] = broken_server(url) if url else broken_file(tmp_path / "state.db")
    for at in range(1, 2000, pytestconfig.getoption("--every")):
        trial = failing(at)
        try:
            to_head(trial)
        except StoreError:
            assert contents(database) == before
        else:
            break
        finally:
            trial.close()
    assert at > 8
    assert contents(database)["revision"] == [{"is": HEAD}]


# What a statement requests besides itself: it is denied with the statement.
COLUMNS = (sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION)
CATALOGUE = (sqlite3.SQLITE_UPDATE, "sqlite_master")


def broken_file(path: Path) -> Callable[[int], Database]:
    """Make engines whose n-th request of a migration is denied."""

    def make(at: int) -> FileDatabase:
        left, made = [at], FileDatabase(path)

        def permit(action: int, table: str | None, *_: object) -> int:
            if action in COLUMNS or (action, table) == CATALOGUE:
                return sqlite3.SQLITE_OK
            left[0] -= 1
            return sqlite3.SQLITE_DENY if left[0] == 0 else sqlite3.SQLITE_OK

        made.connection.set_authorizer(permit)
        return made

    return make


def broken_server(url: str) -> Callable[[int], Database]:
    """Make engines whose n-th statement of a migration fails."""
    import psycopg

    class Broken(Server):
        def __init__(self, at: int) -> None:
            super().__init__(url, SQL)
            self.left = at

        def _connection(self) -> Any:
            real = super()._connection()
            if not hasattr(self, "left"):
                return real
            execute = type(real).execute

            def counted(*arguments: Any) -> Any:
                self.left -= 1
                if self.left == 0:
                    raise psycopg.DataError("broken")
                return execute(real, *arguments)

            real.execute = counted
            return real

    return Broken


@pytest.mark.long
def test_a_death_at_any_statement_of_a_migration_loses_nothing(
    database: Database, tmp_path: Path, url: str, request: pytest.FixtureRequest
) -> None:
    before = contents(database)
    database.close()
    cluster: Any = request.getfixturevalue("cluster") if url else None
    source, deaths = tmp_path / "state.db", 0
    with subprocess.Popen(
        [sys.executable, "-c", MIGRATOR], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as migrator:
        assert migrator.stdin is not None
        assert migrator.stdout is not None
        for at in range(1, 1000, request.config.getoption("--every")):
            path, place = tmp_path / f"{at}.db", cluster.database(url.rpartition("/")[2]) if url else ""
            if not url:
                shutil.copy(source, path)
            migrator.stdin.write(json.dumps([str(path), place, at]) + "\n")
            migrator.stdin.flush()
            status = int(migrator.stdout.readline())
            left = Server(place, SQL) if url else FileDatabase(path)
            found = contents(left)
            left.close()
            if found["revision"] != [{"is": HEAD}]:
                assert found == before
            store = open_store(path, url=place, driver=PostgreSQL())
            after = contents(store.database)
            store.close()
            for name in TABLES:
                rows = zip(after[name], before[name], strict=True)
                assert [{k: new[k] for k in old} for new, old in rows] == before[name]
            if url:
                cluster.drop(place)
            if status == 0:
                break
            assert status == -9
            deaths += 1
        migrator.stdin.close()
    assert deaths > 8


def test_the_older_store_lies_beside_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    made = FileDatabase(path)
    older(made)
    made.close()
    before = contents(made := FileDatabase(path))
    made.close()
    open_store(path).close()
    copy = FileDatabase(tmp_path / f"state.db.before-{HEAD}")
    assert contents(copy) == before
    assert copy.connection.execute("SELECT version_num FROM alembic_version").fetchone()[0] == "0001"
    copy.close()
    assert (tmp_path / f"state.db.before-{HEAD}").stat().st_mode & 0o077 == 0
    open_store(path).close()
    assert sorted(one.name for one in tmp_path.iterdir()) == ["state.db", f"state.db.before-{HEAD}"]


def test_a_new_store_has_no_older_one_beside_it(tmp_path: Path) -> None:
    open_store(tmp_path / "state.db").close()
    assert [one.name for one in tmp_path.iterdir()] == ["state.db"]
