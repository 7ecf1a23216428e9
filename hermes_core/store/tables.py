"""Tables of plugins in the kernel's database: brought to their head before the first use, and then theirs alone.

Each plugin has a prefix that no other can have, and a version table with it. Its migrations run under the lock of the
kernel's own, in one transaction: after a failure, or a death, the tables are as before. SQLAlchemy is imported with the
first statement, alembic only when there is something to migrate.
"""

import inspect
import re
import threading
import time
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from hermes_core.database import READ, WRITE, Begin, Database, Rows, TablesTransaction, Transaction
from hermes_core.errors import Conflict, ContractError, Incompatible, PluginError, StoreError
from hermes_core.store import leases
from hermes_core.store.killpoints import die_at
from hermes_core.types import JSON, Migration

if TYPE_CHECKING:
    import sqlalchemy as sa

    from hermes_core.store.lent import Lender

__all__ = ["Tables", "prefix_of"]

T = TypeVar("T")
_VERSION = "version"
_PLAIN = re.compile(r"[a-z]+/[a-z0-9]+(-[a-z0-9]+)*")


def prefix_of(label: str) -> str:
    """Return how a plugin's tables' names begin; no other plugin's prefix begins with it. Raises ContractError."""
    if not _PLAIN.fullmatch(label):
        text = "the name of a plugin with tables has lower-case letters and digits, and single - between them"
        raise ContractError(label, text)
    return f"{label.replace('/', '_').replace('-', '_')}__"


class Tables:
    """The tables of one plugin: every unit of work is one transaction."""

    def __init__(self, database: Database, label: str, migration: Migration) -> None:
        """Refuse a plugin whose name does not do: raises ContractError."""
        self.database, self._label, self._migration = database, label, migration
        self.prefix = prefix_of(label)

    async def run(self, work: Callable[[TablesTransaction], T], begin: Begin = WRITE) -> T:
        """Run a unit of work, again if need be. Raises StoreError, Conflict, ContractError, and what it raises."""
        if begin == READ:
            return await self.database.run(lambda tx: self.unit(work, tx), READ)
        die_at("storing")
        result = await self.database.run(lambda tx: self.unit(work, tx))
        die_at("stored")
        return result

    def unit(self, work: Callable[[TablesTransaction], T], tx: Transaction) -> T:
        """Run a unit of work inside a transaction that is somebody else's. Raises as ``run``."""
        if inspect.iscoroutinefunction(work):
            raise self._waits()
        with self._lender.connected(tx) as connection, tx.confined(self.prefix, f"{self.prefix}{_VERSION}"):
            result = work(_Open(tx, connection, self._label, self.prefix))
        if inspect.isawaitable(result):
            raise self._waits()
        return result

    def _waits(self) -> ContractError:
        return ContractError(self._label, "a transaction is a plain def: nobody waits while it is open")

    def prepare(self) -> None:
        """Bring the tables to their head. Raises Incompatible when they are newer, PluginError when it fails."""
        if (revision := self.database.transact(self._revision, READ)) == self._migration.head:
            return
        try:
            if revision and self._scripts(revision):
                self.database.keep(f"before-{self.prefix}{self._migration.head}")
            self.database.transact(self._migrate, WRITE)
        except (PluginError, StoreError):
            raise
        except Exception as error:
            text = f"its tables cannot be migrated: {type(error).__name__}: {error}".partition("\n")[0]
            raise PluginError(self._label, text, hint="They are as before. Tell its author.") from error

    def _revision(self, tx: Transaction) -> str:
        """Return the revision of the tables, or nothing when there are none."""
        table = f"{self.prefix}{_VERSION}"
        if table not in tx.objects():
            return ""
        row = tx.connection.execute(f"SELECT version_num FROM {table}").fetchone()  # noqa: S608 - letters and _
        return str(row[0]) if row else ""

    def _migrate(self, tx: Transaction) -> None:
        """Look again, inside the write lock, since another process may have been faster."""
        tx.alone("migration")
        if (revision := self._revision(tx)) == self._migration.head:
            return
        before = tx.objects()
        self._lender.migrate(tx, self._scripts(revision), table=f"{self.prefix}{_VERSION}")
        self._judge(before, tx.objects())
        if (reached := self._revision(tx)) != self._migration.head:
            text = f"its migrations end at {reached or 'nothing'}, and it names {self._migration.head}"
            raise ContractError(self._label, text)
        die_at("migrating")

    def _scripts(self, revision: str) -> Any:
        from hermes_core.store.lent import scripts_of

        if (scripts := scripts_of(self._migration.folder, revision)) is None:
            text = f"its tables are of a newer version of it ({revision}; this one knows {self._migration.head})"
            hint = "Update the plugin. Or go back to the copy: hermes store downgrade"
            raise Incompatible(self._label, text, hint=hint)
        return scripts

    def _judge(self, before: Mapping[str, str], after: Mapping[str, str]) -> None:
        """Hold what was made or changed against the prefix. Raises ContractError; then nothing is committed."""
        touched = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
        if astray := sorted(name for name in touched if not name.startswith(self.prefix)):
            text = f"its migrations touch {', '.join(astray)}; names of its own begin with {self.prefix}"
            raise ContractError(self._label, text)

    @cached_property
    def _lender(self) -> "Lender":
        from hermes_core.store.lent import Lender

        return Lender()


class _Open(TablesTransaction):
    """A transaction while its unit of work runs."""

    def __init__(self, tx: Transaction, connection: "sa.Connection", label: str, prefix: str) -> None:
        self._tx, self._connection, self._label, self._prefix = tx, connection, label, prefix
        self._thread = threading.get_ident()

    def execute(self, statement: "sa.Executable", parameters: Any = None) -> Rows:
        from sqlalchemy.exc import DBAPIError, IntegrityError

        if self._connection.closed or threading.get_ident() != self._thread:
            raise ContractError(self._label, "used a transaction that is over")
        if why := _refusal(statement, self._prefix):
            raise ContractError(self._label, f"its statement was refused: {why}")
        try:
            counted = {"preserve_rowcount": True}  # of an insert, too
            result = self._connection.execute(statement, parameters, execution_options=counted)
            return Rows((dict(row) for row in result.mappings()) if result.returns_rows else (), result.rowcount)
        except IntegrityError as error:
            raise Conflict(f"A row of {self._label} stands in the way: {error.orig}.".replace("\n", " ")) from error
        except DBAPIError as error:
            if any(word in str(error.orig) for word in ("not authorized", "is prohibited")):  # the confined file's own
                raise ContractError(self._label, f"its statement was refused: {error.orig}") from error
            raise error.orig or error from error  # the driver's own, which the database puts in plain words

    def alone(self, name: str) -> None:
        self._tx.alone(f"{self._prefix}{name}")

    def tell(self, name: str) -> None:
        self._tx.tell(f"{self._prefix}{name}")

    def clock(self) -> float:
        return self._tx.clock() or time.time()

    def mark(self) -> Mapping[str, JSON]:
        return leases.mark(self._tx)

    def lives(self, row: Mapping[str, Any] | None) -> bool:
        return leases.alive(self._tx, row)


def _refusal(statement: object, prefix: str) -> str:
    """Say why a statement may not run: mistakes that can be seen in it. The wall is the database's, if it has one."""
    import sqlalchemy as sa
    from sqlalchemy.sql import visitors

    if not isinstance(statement, sa.Select | sa.CompoundSelect | sa.Insert | sa.Update | sa.Delete):
        return f"{type(statement).__name__} is none of select, insert, update and delete"
    for one in visitors.iterate(statement):
        if isinstance(one, sa.TextClause):
            return "raw text cannot be looked into"
        if isinstance(one, sa.TableClause):
            own = one.name.startswith(prefix) and one.name != f"{prefix}{_VERSION}"
            if not own or getattr(one, "schema", None) is not None:
                return f"the table {one.fullname!r} is not the plugin's own"
    return ""
