"""Bring a database to head: one look when it is there already, the frozen tables when it is new, else alembic.

Everything happens under ``BEGIN IMMEDIATE``: several processes may start at once, and a failed migration leaves
nothing behind.
"""

import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_core.errors import StoreError
from hermes_core.store.engine import READ, Engine, Transaction
from hermes_core.store.killpoints import die_at
from hermes_core.store.versions.head import DDL, HEAD

if TYPE_CHECKING:
    import sqlalchemy


def to_head(engine: Engine) -> None:
    """Make or migrate the tables. Raises StoreError when the database is not ours, newer, or cannot be migrated."""
    if engine.transact(lambda tx: _revision(tx, engine.path), READ) != HEAD:
        engine.transact(lambda tx: _migrate(tx, engine.path))


def _revision(tx: Transaction, path: Path) -> str:
    """The revision of the database, or nothing when it is empty."""
    tables = {row[0] for row in tx.connection.execute("SELECT name FROM sqlite_master")}
    if not tables:
        return ""
    if "alembic_version" not in tables:
        raise StoreError(
            f"{path} is a database of another program, not a store of Hermes.",
            hint="Move the file away; Hermes makes a new one.",
        )
    return str(tx.connection.execute("SELECT version_num FROM alembic_version").fetchone()[0])


def _migrate(tx: Transaction, path: Path) -> None:
    """Inside the write lock: look again, since another process may have been faster."""
    revision = _revision(tx, path)
    if revision and revision != HEAD:
        upgrade(tx.connection, path, revision)
    elif not revision:
        for sql in DDL:
            tx.connection.execute(sql)
    die_at("migrating")


class _Borrowed:
    """Our connection lent to SQLAlchemy: it may run statements, but the transaction stays ours."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def commit(self) -> None:
        """Ours to do."""

    rollback = close = commit


def lent(connection: sqlite3.Connection) -> "sqlalchemy.Engine":
    """An engine of SQLAlchemy over our connection."""
    from sqlalchemy import create_engine
    from sqlalchemy.pool import StaticPool

    return create_engine("sqlite://", creator=lambda: _Borrowed(connection), poolclass=StaticPool)


def upgrade(connection: sqlite3.Connection, path: Path, revision: str = "") -> None:
    """Run the missing revisions with alembic inside the open transaction. Raises StoreError."""
    from alembic.config import Config
    from alembic.runtime.environment import EnvironmentContext
    from alembic.script import ScriptDirectory
    from alembic.util import CommandError

    config = Config()
    config.set_main_option("script_location", "hermes_core:store")
    scripts = ScriptDirectory.from_config(config)
    try:
        scripts.get_revision(revision or "head")
    except CommandError as error:
        raise StoreError(
            f"The store {path} was written by a newer Hermes (schema {revision}; this one knows {HEAD}).",
            hint="Update Hermes: pip install --upgrade hermes-core",
        ) from error
    steps = EnvironmentContext(config, scripts, fn=lambda current, _: scripts._upgrade_revs("head", current))
    with steps, lent(connection).connect() as borrowed:
        steps.configure(connection=borrowed)
        steps.run_migrations()
