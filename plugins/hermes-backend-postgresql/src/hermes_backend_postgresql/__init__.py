"""Keeps the store on a PostgreSQL server."""

from collections.abc import Iterable

from hermes_core import hookimpl
from hermes_core.kinds import StoreDriver


@hookimpl
def register_stores() -> Iterable[StoreDriver]:
    """Who opens ``postgresql://…``, and ``postgres://…``, which is the same."""
    from hermes_backend_postgresql.driver import PostgreSQL

    return [PostgreSQL("postgresql"), PostgreSQL("postgres")]
