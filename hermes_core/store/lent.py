"""The store's connections lent to SQLAlchemy: it may run statements, but the transaction stays the store's."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.pool import NullPool

from hermes_core.database import Transaction

__all__ = ["Lender", "scripts_of"]


def scripts_of(folder: Path, revision: str, versions: str = "") -> Any:
    """Return Alembic's view of the revisions in a folder, or in ``versions`` below; None if ``revision`` is not one."""
    from alembic.script import ScriptDirectory
    from alembic.util import CommandError

    scripts = ScriptDirectory(str(folder), version_locations=[str(folder / versions)])
    try:
        scripts.get_revision(revision or "head")
    except CommandError:
        return None
    return scripts


class Lender:
    """Hands out the connection of the transaction that runs in this thread."""

    def __init__(self) -> None:
        self._here = threading.local()
        self._engine: sa.Engine | None = None

    @contextmanager
    def connected(self, tx: Transaction) -> Iterator[sa.Connection]:
        """Open a connection of SQLAlchemy inside an open transaction."""
        if self._engine is None:
            url, more = f"{tx.dialect}://", {"poolclass": NullPool, **tx.sqlalchemy}
            self._engine = sa.create_engine(url, creator=lambda: _Borrowed(self._here.connection), **more)
        self._here.connection = tx.connection
        try:
            with self._engine.connect() as connection:
                yield connection
        finally:
            del self._here.connection

    def migrate(self, tx: Transaction, scripts: Any, to: str = "head", table: str = "alembic_version") -> None:
        """Run the missing revisions inside an open transaction."""
        from alembic.config import Config
        from alembic.runtime.environment import EnvironmentContext

        steps = EnvironmentContext(Config(), scripts, fn=lambda current, _: scripts._upgrade_revs(to, current))
        with steps, self.connected(tx) as connection:
            steps.configure(connection=connection, version_table=table)
            steps.run_migrations()


class _Borrowed:
    """A connection of a driver that cannot be ended."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def commit(self) -> None:
        """Do nothing: it is ours to do."""

    rollback = close = commit

    def add_notice_handler(self, _handler: object) -> None:
        """Do nothing: not for every loan anew."""
