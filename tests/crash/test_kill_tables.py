"""Killed between any two statements of a plugin's migration, of its unit of work, or of a document: whole, or not."""

import asyncio
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import sqlalchemy as sa

from hermes_backend_postgresql.driver import PostgreSQL
from hermes_core.database import READ
from hermes_core.store.documents import Scope
from hermes_core.store.journal import open_store
from hermes_core.store.tables import Tables, owners_of_tables
from hermes_core.types import Migration, Principal

pytestmark = pytest.mark.long

FOLDER = Path(__file__).parents[2] / "docs" / "hello" / "tables" / "src" / "hermes_tool_notebook" / "migrations"
MIGRATION = Migration(folder=FOLDER, head="0002")
NOTES = sa.Table("tool_notebook__notes", sa.MetaData(), *(sa.Column(name, sa.Text) for name in ("owner", "text")))
SCOPE = Scope(plugin="tool/notebook", owner=Principal(), session_id="s")
PLAYER = """
import asyncio, json, os, signal, sys
from pathlib import Path
import psycopg
import alembic.runtime.environment
from hermes_core.store import engine
from test_kill_tables import play
from hermes_backend_postgresql.driver import PostgreSQL
from hermes_core.store.journal import open_store

left = [0]
def count(*_):
    left[0] -= 1
    if left[0] == 0:
        os.kill(os.getpid(), signal.SIGKILL)

execute = psycopg.Cursor.execute
psycopg.Cursor.execute = lambda self, *a, **k: (count(), execute(self, *a, **k))[1]
for line in sys.stdin:
    child = os.fork()
    if not child:
        status = 1
        try:
            path, url, at = json.loads(line)
            store = open_store(Path(path), url=url, driver=PostgreSQL())
            if not url:
                store.engine.connection.set_trace_callback(count)
            left[0] = at
            asyncio.run(play(store))
            left[0] = 0
            store.close()
            status = 0
        finally:
            os._exit(status)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


async def play(store):
    """Migrate, write two rows that belong together, and a document, over which another is written."""
    tables = Tables(store.engine, "tool/notebook", MIGRATION)
    tables.prepare()

    def both(tx):
        for text in ("milk", "tea"):
            tx.execute(sa.insert(NOTES).values(owner="me", text=text))

    if not await tables.run(lambda tx: tx.execute(sa.select(NOTES))):
        await tables.run(both)
    for value in (1, 2):
        await store.documents.put(SCOPE, name="plan", value=value)


async def look(store):
    """How far it came: whether there are tables, how many rows, and what the document says."""
    there = bool(await store.engine.run(owners_of_tables, READ))
    tables = Tables(store.engine, "tool/notebook", MIGRATION)
    if there:
        assert store.engine.transact(tables._revision) == "0002"
    rows = await tables.run(lambda tx: tx.execute(sa.select(NOTES))) if there else ()
    document = await store.documents.get(SCOPE, name="plan")
    return there, len(rows), document.value if document else 0


def test_a_death_between_two_statements_leaves_a_whole_state(tmp_path, kept_in, request):
    cluster = request.getfixturevalue("cluster") if kept_in == "postgresql" else None
    template = cluster.database() if cluster else ""
    first = tmp_path / "first.db"
    open_store(first, url=template, driver=PostgreSQL()).close()
    states, deaths = [], 0
    with subprocess.Popen(
        [sys.executable, "-c", PLAYER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parent,
    ) as player:
        for at in range(1, 1000, request.config.getoption("--every")):
            path, url = tmp_path / f"{at}.db", cluster.database(template.rpartition("/")[2]) if cluster else ""
            if not cluster:
                shutil.copy(first, path)
            player.stdin.write(json.dumps([str(path), url, at]) + "\n")
            player.stdin.flush()
            status = int(player.stdout.readline())
            store = open_store(path, url=url, driver=PostgreSQL())
            states.append(asyncio.run(look(store)))
            asyncio.run(play(store))
            assert asyncio.run(look(store)) == (True, 2, 2)
            store.close()
            if cluster:
                cluster.drop(url)
            if status == 0:
                break
            assert status == -9
            deaths += 1
        player.stdin.close()
    assert deaths > 8
    whole = [(False, 0, 0), (True, 0, 0), (True, 2, 0), (True, 2, 1), (True, 2, 2)]
    assert [state for state in whole if state in states] == sorted(set(states))
    assert states == sorted(states)
    if cluster:
        cluster.drop(template)


def test_two_processes_that_start_at_once_migrate_once(tmp_path, kept_in, request):
    url = ""
    if kept_in == "postgresql":
        cluster = request.getfixturevalue("cluster")
        url = cluster.database()
    program = (
        "import asyncio, sys; from pathlib import Path; from test_kill_tables import MIGRATION\n"
        "from hermes_backend_postgresql.driver import PostgreSQL\n"
        "from hermes_core.store.journal import open_store; from hermes_core.store.tables import Tables\n"
        "store = open_store(Path(sys.argv[1]), url=sys.argv[2], driver=PostgreSQL())\n"
        "print(flush=True); sys.stdin.readline()\n"
        "Tables(store.engine, 'tool/notebook', MIGRATION).prepare(); store.close()"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "state.db"), url]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    started = [subprocess.Popen(command, cwd=Path(__file__).parent, **pipes) for _ in range(3)]
    for process in started:
        process.stdout.readline()
    for process in started:
        process.stdin.write(b"\n")
        process.stdin.flush()
    assert [(process.communicate()[1], process.returncode) for process in started] == [(b"", 0)] * 3
    if url:
        cluster.drop(url)
