"""Bring a database to head: one look when it is there already, the frozen tables when it is new, else alembic.

Everything happens in one transaction that only one process can be in: several may start at once, and a failed
migration leaves nothing behind.
"""

from pathlib import Path

from hermes_core.database import READ, Database, Transaction
from hermes_core.errors import StoreError
from hermes_core.store.killpoints import die_at
from hermes_core.store.versions.head import DDL, HEAD

_OURS = {"alembic_version", "owners", "sessions", "messages", "turns", "leases"}


def to_head(database: Database) -> None:
    """Make or migrate the tables. Raises StoreError when the database is not ours, newer, or cannot be migrated."""
    if (revision := database.transact(lambda tx: _revision(tx, database.place), READ)) != HEAD:
        if "" < revision < HEAD:
            database.keep(f"before-{HEAD}")
        database.transact(lambda tx: _migrate(tx, database.place))


def _revision(tx: Transaction, place: str) -> str:
    """Return the revision of the database, or nothing when it is empty."""
    tables = set(tx.objects())
    if tx.server:  # there, tables of others may stand beside ours
        tables &= _OURS
    if not tables:
        return ""
    if not {"alembic_version", *(_OURS if tx.server else ())} <= tables:
        hint = "Give Hermes a database of its own." if tx.server else "Move the file away; Hermes makes a new one."
        raise StoreError(f"{place} is a database of another program, not a store of Hermes.", hint=hint)
    return str(tx.connection.execute("SELECT version_num FROM alembic_version").fetchone()[0])


def _migrate(tx: Transaction, place: str) -> None:
    """Look again, inside the write lock, since another process may have been faster."""
    tx.alone("migration")
    revision = _revision(tx, place)
    if not revision and not tx.server:
        for sql in DDL:
            tx.connection.execute(sql)
    elif revision != HEAD:
        upgrade(tx, place, revision)
    die_at("migrating")


def upgrade(tx: Transaction, place: str, revision: str = "", to: str = "head") -> None:
    """Run the missing revisions with alembic inside the open transaction. Raises StoreError."""
    from sqlalchemy.exc import DBAPIError

    from hermes_core.store.lent import Lender, scripts_of

    if (scripts := scripts_of(Path(__file__).parent, revision, "versions")) is None:
        raise StoreError(
            f"The store {place} was written by a newer Hermes (schema {revision}; this one knows {HEAD}).",
            hint="Update Hermes: pip install --upgrade hermes-core. Or go back to the copy: hermes store downgrade",
        )
    try:
        Lender().migrate(tx, scripts, to)
    except DBAPIError as error:
        raise error.orig or error from error  # the driver's own, which the database puts in plain words
