"""Killed between any two statements of a plugin's migration, of its unit of work, or of a document: whole, or not."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest
import sqlalchemy as sa
from statement_deaths import stores_after

from hermes_backend_postgresql.driver import PostgreSQL
from hermes_core.database import READ
from hermes_core.store.documents import Documents
from hermes_core.store.store import open_store
from hermes_core.store.tables import Tables
from hermes_core.types import Migration, Principal

pytestmark = pytest.mark.long

FOLDER = Path(__file__).parents[2] / "docs" / "hello" / "tables" / "src" / "hermes_tool_notebook" / "migrations"
MIGRATION = Migration(folder=FOLDER, head="0002")
NOTES = sa.Table("tool_notebook__notes", sa.MetaData(), *(sa.Column(name, sa.Text) for name in ("owner", "text")))
WHERE = {"owner": Principal(), "session_id": "s"}


async def play(store):
    """Migrate, write two rows that belong together, and a document, over which another is written."""
    tables = Tables(store.database, "tool/notebook", MIGRATION)
    tables.prepare()

    def both(tx):
        for text in ("milk", "tea"):
            tx.execute(sa.insert(NOTES).values(owner="me", text=text))

    if not await tables.run(lambda tx: tx.execute(sa.select(NOTES))):
        await tables.run(both)
    for value in (1, 2):
        await Documents(store.database, "tool/notebook").put("plan", value, **WHERE)


async def look(store):
    """How far it came: whether there are tables, how many rows, and what the document says."""
    there = await store.database.run(lambda tx: "tool_notebook__version" in tx.objects(), READ)
    tables = Tables(store.database, "tool/notebook", MIGRATION)
    if there:
        assert store.database.transact(tables._revision) == "0002"
    rows = await tables.run(lambda tx: tx.execute(sa.select(NOTES))) if there else ()
    document = await Documents(store.database, "tool/notebook").get("plan", **WHERE)
    return there, len(rows), document.value if document else 0


def test_a_death_between_two_statements_leaves_a_whole_state(tmp_path, kept_in, request):
    cluster = request.getfixturevalue("cluster") if kept_in == "postgresql" else None
    template = cluster.database() if cluster else ""
    first = tmp_path / "first.db"
    open_store(first, url=template, driver=PostgreSQL()).close()
    states = []
    every = request.config.getoption("--every")
    for store in stores_after("test_kill_tables", first, cluster, template, every):
        states.append(asyncio.run(look(store)))
        asyncio.run(play(store))
        assert asyncio.run(look(store)) == (True, 2, 2)
    assert len(states) - 1 > 24 // every, "deaths"
    whole = [(False, 0, 0), (True, 0, 0), (True, 2, 0), (True, 2, 1), (True, 2, 2)]
    assert [state for state in whole if state in states] == sorted(set(states))
    assert states == sorted(states)


def test_two_processes_that_start_at_once_migrate_once(tmp_path, kept_in, request):
    url = ""
    if kept_in == "postgresql":
        cluster = request.getfixturevalue("cluster")
        url = cluster.database()
    program = (
        "import asyncio, sys; from pathlib import Path; from test_kill_tables import MIGRATION\n"
        "from hermes_backend_postgresql.driver import PostgreSQL\n"
        "from hermes_core.store.store import open_store; from hermes_core.store.tables import Tables\n"
        "store = open_store(Path(sys.argv[1]), url=sys.argv[2], driver=PostgreSQL())\n"
        "print(flush=True); sys.stdin.readline()\n"
        "Tables(store.database, 'tool/notebook', MIGRATION).prepare(); store.close()"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "state.db"), url]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    here = Path(__file__).parent
    place = {"cwd": here, "env": {**os.environ, "PYTHONPATH": str(here.parent / "house")}}
    started = [subprocess.Popen(command, **place, **pipes) for _ in range(3)]
    for process in started:
        process.stdout.readline()
    for process in started:
        process.stdin.write(b"\n")
        process.stdin.flush()
    assert [(process.communicate()[1], process.returncode) for process in started] == [(b"", 0)] * 3
    if url:
        cluster.drop(url)
