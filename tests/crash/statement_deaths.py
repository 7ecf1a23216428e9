"""A program that is killed at one statement after another, and the store as each death leaves it."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workers import Worker

from hermes_backend_postgresql.driver import PostgreSQL
from hermes_core.store.store import Store, open_store

__all__ = ["stores_after"]

PROGRAM = """
import asyncio, json, os, signal, sys
from importlib import import_module
from pathlib import Path
import psycopg
import alembic.runtime.environment
from hermes_core.store import file_database
from hermes_backend_postgresql.driver import PostgreSQL
from hermes_core.store.store import open_store

play, opening, left = import_module(sys.argv[1]).play, sys.argv[2] == "opening", [0]
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
for line in sys.stdin:
    child = os.fork()
    if not child:
        status = 1
        try:
            path, url, at = json.loads(line)
            left[0] = at if opening else 0
            store = open_store(Path(path), url=url, driver=PostgreSQL())
            if not opening:
                left[0] = at
            asyncio.run(play(store))
            left[0] = 0
            store.close()
            status = 0
        finally:
            os._exit(status)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


def stores_after(
    module: str, first: Path, cluster: Any, template: str, every: int, *, opening: bool = False
) -> Iterator[Store]:
    """Give the open store after a death at each ``every``-th statement of ``play`` in a test module, last after none.

    Each begins as the file ``first``, or, where there is a PostgreSQL ``cluster``, as its database ``template``, which
    is dropped in the end. ``opening``: the statements that open the store count, too.
    """
    words = ("-c", PROGRAM, module, "opening" if opening else "")
    here = Path(__file__).parent
    environ = {**os.environ, "PYTHONPATH": str(here.parent / "house")}
    with Worker(*words, cwd=here, env=environ) as worker:
        for at in range(1, 1000, every):
            path = first.with_name(f"{at}.db")
            url = cluster.database(template.rpartition("/")[2]) if cluster else ""
            if not cluster:
                shutil.copy(first, path)
            status = worker.play([str(path), url, at])
            store = open_store(path, url=url, driver=PostgreSQL())
            yield store
            store.close()
            if cluster:
                cluster.drop(url)
            if status == 0:
                break
            assert status == -9
    if cluster:
        cluster.drop(template)
