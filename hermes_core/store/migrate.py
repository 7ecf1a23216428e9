"""Bring a database to head: one SELECT when it is there already, the frozen tables when it is new, else alembic.

Everything happens under ``BEGIN IMMEDIATE``: several processes may start at once, and a failed migration leaves
nothing behind.
"""

import sqlite3
from pathlib import Path
from typing import Any

from hermes_core.errors import StoreError
from hermes_core.store.engine import Engine, explained
from hermes_core.store.frozen import DDL, HEAD

VERSIONS = "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)"


def to_head(engine: Engine) -> None:
    """Make or migrate the tables. Raises StoreError when the database is not ours, newer, or cannot be migrated."""
    if engine.patiently(lambda: _revision(engine)) != HEAD:
        engine.transact(lambda _: _migrate(engine))


def _revision(engine: Engine) -> str | None:
    """The revision of the database, or None when it has none."""
    with explained(engine.path):
        try:
            row = engine.connection.execute("SELECT version_num FROM alembic_version").fetchone()
        except sqlite3.OperationalError as error:
            if "no such table" in str(error):
                return None
            raise
    return str(row[0]) if row else None


def _migrate(engine: Engine) -> None:
    """Inside the write lock: look again, since another process may have been faster."""
    run = engine.connection.execute
    revision = _revision(engine)
    if revision == HEAD:
        return
    if revision is not None:
        upgrade(engine.connection, engine.path, revision)
        return
    if run("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        raise StoreError(
            f"{engine.path} is a database of another program, not a store of Hermes.",
            hint="Move the file away; Hermes makes a new one.",
        )
    for sql in (*DDL, VERSIONS):
        run(sql)
    run("INSERT INTO alembic_version VALUES (?)", (HEAD,))


class _Borrowed:
    """Our connection lent to SQLAlchemy: it may run statements, but the transaction stays ours."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def commit(self) -> None:
        """Ours to do."""

    rollback = close = commit


def upgrade(connection: sqlite3.Connection, path: Path, revision: str | None, head: str = HEAD) -> None:
    """Run the missing revisions with alembic inside the open transaction. Raises StoreError."""
    from alembic.config import Config
    from alembic.runtime.environment import EnvironmentContext
    from alembic.script import ScriptDirectory
    from alembic.util import CommandError
    from sqlalchemy import create_engine
    from sqlalchemy.pool import StaticPool

    config = Config()
    config.set_main_option("script_location", "hermes_core:store")
    scripts = ScriptDirectory.from_config(config)
    try:
        scripts.get_revision(revision or head)
    except CommandError as error:
        raise StoreError(
            f"The store {path} was written by a newer Hermes (schema {revision}; this one knows {head}).",
            hint="Update Hermes: pip install --upgrade hermes-core",
        ) from error
    borrowed = create_engine("sqlite://", creator=lambda: _Borrowed(connection), poolclass=StaticPool)
    steps = EnvironmentContext(config, scripts, fn=lambda current, _: scripts._upgrade_revs(head, current))
    with steps, borrowed.connect() as lent:
        steps.configure(connection=lent)
        steps.run_migrations()
