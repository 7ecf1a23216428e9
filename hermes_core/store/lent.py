"""The store's connections lent to SQLAlchemy: it may run statements, but the transaction stays the store's."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa
from sqlalchemy.pool import NullPool

from hermes_core.store.engine import Transaction


class Borrowed:
    """A connection of a driver that cannot be ended."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def commit(self) -> None:
        """Ours to do."""

    rollback = close = commit

    def add_notice_handler(self, _handler: object) -> None:
        """Not for every loan anew."""


class Lender:
    """Hands out the connection of the transaction that runs in this thread."""

    def __init__(self, *, server: bool) -> None:
        self._here = threading.local()
        more: dict[str, Any] = {"use_native_hstore": False} if server else {}
        url = "postgresql+psycopg://" if server else "sqlite://"
        self._engine = sa.create_engine(url, creator=self._borrow, poolclass=NullPool, **more)

    def _borrow(self) -> Any:
        return Borrowed(self._here.connection)

    @contextmanager
    def connected(self, tx: Transaction) -> Iterator[sa.Connection]:
        """A connection of SQLAlchemy inside an open transaction."""
        self._here.connection = tx.connection
        try:
            with self._engine.connect() as connection:
                yield connection
        finally:
            del self._here.connection
