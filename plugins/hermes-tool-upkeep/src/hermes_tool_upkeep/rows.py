"""The rows of a store at any address, as SQLAlchemy reads them: of the kernel and of plugins alike."""

import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from hermes_core.errors import UserError

__all__ = ["connected", "created", "key_of", "tables_of"]

_CAST = re.compile(r"::[a-z ]+(\[\])?")
_AMONG = re.compile(r"= ANY \((\()?ARRAY\[([^\]]*)\](?(1)\))\)")  # as PostgreSQL writes down IN
_BUSY = 30.0  # seconds


@contextmanager
def connected(address: str | Path, *, writes: bool = False) -> Iterator[sa.Connection]:
    """Connect to a file, or to a server by its URL. Raises UserError, without the address where it has a password."""
    if isinstance(address, Path):
        url, where = "sqlite://", str(address)

        def connect() -> Any:
            uri = f"{address.absolute().as_uri()}?mode={'rw' if writes else 'ro'}"
            return sqlite3.connect(uri, uri=True, timeout=_BUSY)
    else:
        url, where = "postgresql+psycopg://", "the server"

        def connect() -> Any:
            import psycopg

            return psycopg.connect(address, connect_timeout=10, application_name="hermes-upkeep")

    try:
        level = {} if url == "sqlite://" or writes else {"isolation_level": "REPEATABLE READ"}
        engine = sa.create_engine(url, creator=connect, poolclass=sa.pool.NullPool, **level)
        with engine.connect() as connection:
            yield connection
    except ImportError:
        raise UserError("Nobody here knows such a server.", hint="pip install hermes-backend-postgresql") from None
    except (sa.exc.DBAPIError, sqlite3.Error) as error:
        said = str(getattr(error, "orig", error)).partition("\n")[0]
        raise UserError(f"The store at {where} cannot be used: {said}.") from None
    except Exception as error:
        if type(error).__module__.startswith("psycopg"):  # a server that cannot be reached
            raise UserError(f"The store at {where} cannot be used: {str(error).splitlines()[0]}.") from None
        raise


def tables_of(connection: sa.Connection) -> Sequence[sa.Table]:
    """Return the tables that hold rows of their own, those first that others lean on; not the search index."""
    names = [name for name in sa.inspect(connection).get_table_names() if name.partition("_")[0] != "search"]
    metadata = sa.MetaData()
    metadata.reflect(connection, only=names)
    return metadata.sorted_tables


def key_of(table: sa.Table) -> Sequence[sa.Column[Any]]:
    """Return the columns that tell a row from all others."""
    return [*table.primary_key.columns] or [*table.columns]


def created(connection: sa.Connection, source: sa.Table) -> sa.Table:
    """Make a table like one of another database, with the words of this one."""
    made = source.to_metadata(sa.MetaData())
    wide, server = connection.dialect.name != "sqlite", connection.dialect.name
    for column in made.columns:
        kind = column.type
        if isinstance(kind, sa.Integer):
            column.type = sa.BigInteger() if wide else sa.Integer()
        elif isinstance(kind, sa.Float):
            column.type = sa.Double() if wide else sa.Float()
        elif isinstance(kind, sa.Text):
            column.type = sa.Text()
        if isinstance(default := column.server_default, sa.DefaultClause):
            text = _plain(getattr(default.arg, "text", default.arg))
            column.server_default = None if "nextval" in text else sa.DefaultClause(sa.text(text))
    for index in made.indexes:
        for name in ("sqlite", "postgresql"):
            where = index.dialect_options[name].get("where")
            if where is not None and name != server:
                index.dialect_options[server]["where"] = sa.text(_plain(where))
    made.create(connection)
    return made


def _plain(words: object) -> str:
    """Return SQL of one of the two as both read it."""
    return _AMONG.sub(r"IN (\2)", _CAST.sub("", str(words)))
