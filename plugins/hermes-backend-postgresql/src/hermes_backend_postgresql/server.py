"""The store on a PostgreSQL server: the same units of work, over a few connections, in worker threads.

SQLite lets one transaction write at a time. Here one may write at a time for each session: it is alone with the name of
the session until its commit, so what it read stays true, and every statement sees what was committed before it. What
two sessions could both claim is unique in the tables; who loses such a race runs again and then sees the winner.
A connection that is lost during a commit leaves open whether the commit took place: the server is asked, by the
number of the transaction, before anything is done again.
"""

import asyncio
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import ClassVar, TypeVar

import psycopg

from hermes_backend_postgresql.address import parsed
from hermes_backend_postgresql.causes import AGAIN, cause_of, code_of
from hermes_backend_postgresql.rows import Number, Row, rows_of
from hermes_backend_postgresql.statements import adding, searching, translated
from hermes_core import database
from hermes_core.database import READ, WRITE, Begin, Changed, Database, Locked, Transaction
from hermes_core.errors import StoreError
from hermes_core.types import JSON

__all__ = ["Server", "ServerTransaction"]

T = TypeVar("T")
CONNECTIONS = 8  # of one process, at most; most have one
_RACES = 5  # how often a transaction that lost a race for a unique value runs again
_OLDEST = 13
# A holder of locks that stops in the middle of a transaction is cut off; who waits for a lock looks up now and then.
_LIMITS = "SET LOCAL idle_in_transaction_session_timeout = '30s'; SET LOCAL lock_timeout = '2s'; "
_BEGIN = {
    READ: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; " + _LIMITS + "SELECT ''",
    WRITE: "BEGIN ISOLATION LEVEL READ COMMITTED; " + _LIMITS + "SELECT pg_current_xact_id()::text",
}
_ALONE = """SELECT extract(epoch FROM clock_timestamp())::float8
    FROM pg_advisory_xact_lock(hashtextextended(%(name)s, 4715)) AS held"""
_OBJECTS = """SELECT c.relname, c.relkind::text || coalesce((
    SELECT string_agg(attname || ' ' || atttypid::text || ' ' || attnotnull::text, ',' ORDER BY attnum)
    FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0), '')
    FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace"""


class Unreachable(Locked):
    """There is no connection to the server: the transaction did not happen."""


class ServerTransaction(Transaction):
    """A transaction on a server, where others write at the same time."""

    dialect = "postgresql+psycopg"
    sqlalchemy: ClassVar = {"use_native_hstore": False}  # which it would ask the server for with every loan
    connection: "psycopg.Connection[Row]"

    def __init__(self, connection: "psycopg.Connection[Row]", statements: Mapping[str, str]) -> None:
        super().__init__()
        self.connection, self._statements = connection, statements
        self._clock = 0.0

    def rows(self, name: str, /, **values: JSON) -> list[Row]:
        return self._execute(self._statements[name], values).fetchall()

    def row(self, name: str, /, **values: JSON) -> Row | None:
        return self._execute(self._statements[name], values).fetchone()

    def change(self, name: str, /, **values: JSON) -> Changed:
        return self._execute(self._statements[name], values)

    def add(self, name: str, /, **values: JSON) -> int:
        row = self._execute(adding(self._statements[name]), values).fetchone()
        return int(row[0]) if row else 0

    def found(self, groups: Sequence[Sequence[str]], first: int, last: int, limit: int, order: str) -> list[int]:
        for near in (True, False):
            sql, values = searching(groups, order, near=near)
            rows = self._execute(sql, {**values, "first": first, "last": last, "limit": limit}).fetchall()
            if len(rows) >= limit:
                break
        return [row for (row,) in rows]

    def objects(self) -> dict[str, str]:
        return {str(name): str(made) for name, made in self.connection.execute(_OBJECTS)}

    def _execute(self, sql: str, values: Mapping[str, JSON]) -> "psycopg.Cursor[Row]":
        # As SQLite has it, yes is the number one.
        numbers = {name: int(value) if isinstance(value, bool) else value for name, value in values.items()}
        return self.connection.execute(sql.encode(), numbers)

    def tell(self, name: str) -> None:
        super().tell(name)
        self.connection.execute("SELECT pg_notify('hermes', %(name)s)", {"name": name})

    def alone(self, name: str) -> None:
        [(self._clock,)] = self.connection.execute(_ALONE, {"name": name})

    def clock(self) -> float:
        if not self._clock:
            [(self._clock,)] = self.connection.execute("SELECT extract(epoch FROM clock_timestamp())::float8")
        return self._clock


class Server(Database):
    """The connections of one process to a server; ``place`` names it without its password."""

    threads: ThreadPoolExecutor

    def __init__(self, url: str, statements: Mapping[str, str]) -> None:
        """Raises UserError for an address that is none, StoreError when the server cannot be used."""
        super().__init__()
        self._address, self.place = parsed(url)
        self._statements = translated(statements)
        self._lock = threading.RLock()
        self._listening: asyncio.Task[None] | None = None
        self._idle: list[psycopg.Connection[Row]] = []
        self._closed = self._reached = False
        self.threads = ThreadPoolExecutor(CONNECTIONS, "hermes-store")
        connection = self._connection()
        version, encoding = connection.info.server_version, connection.info.parameter_status("server_encoding")
        self._idle.append(connection)
        if version < _OLDEST * 10000 or encoding != "UTF8":
            self.close()
            told = f"it is version {version // 10000}" if encoding == "UTF8" else f"it is kept in {encoding}"
            hint = (
                f"Hermes needs PostgreSQL {_OLDEST} or newer, and a database made with: createdb -E UTF8 -T template0"
            )
            raise StoreError(f"The store {self.place} cannot be used: {told}.", hint=hint)
        self.place += f" (PostgreSQL {version // 10000})"

    def close(self) -> None:
        self._closed = True
        if self._listening:
            with suppress(RuntimeError):  # its loop is closed, and it with it
                self._listening.get_loop().call_soon_threadsafe(self._listening.cancel)
        self.threads.shutdown()
        self._forget_idle()

    async def run(self, work: Callable[[Transaction], T], begin: Begin = WRITE, *, long: bool = False) -> T:
        self._refuse_when_closed()
        return await self.in_thread(work, begin)

    def transact(
        self, work: Callable[[Transaction], T], begin: Begin = WRITE, stop: threading.Event | None = None
    ) -> T:
        stop = stop or threading.Event()
        until, pause, races = time.monotonic() + database.PATIENCE, 0.005, 0
        while not stop.is_set():
            try:
                return self._attempt(work, begin)
            except Locked as error:
                races += isinstance(error.__cause__, psycopg.errors.UniqueViolation)
                if time.monotonic() > until or races > _RACES:
                    raise
            stop.wait(pause * random.uniform(0.5, 1.5))  # noqa: S311 - jitter, not a secret
            pause = min(pause * 1.5, 0.5)
        raise StoreError("The write was given up before it began.")

    def _attempt(self, work: Callable[[Transaction], T], begin: Begin) -> T:
        connection = self._connection()
        transaction = ServerTransaction(connection, self._statements)
        try:
            with self._explained():
                number = _last(connection.execute(_BEGIN[begin]))
                result = work(transaction)
        except BaseException:
            self._give_back(connection)
            raise
        try:
            with self._explained():
                connection.execute("COMMIT")
        except Unreachable as error:
            if begin == WRITE and not self._committed(number):
                raise Unreachable(error.text, hint=error.hint) from error
        finally:
            self._give_back(connection)
        with self._lock:
            for follow in transaction.committed:
                follow()
        if transaction.notices:
            self.notifier.notify(*transaction.notices)
        return result

    def subscribe(self, name: str, call: Callable[[], None]) -> Callable[[], None]:
        """The same for transactions of every process, over one connection more."""
        if self._listening is None or self._listening.done():
            self._listening = asyncio.create_task(self._listen())
        return super().subscribe(name, call)

    async def _listen(self) -> None:
        """Hear what other processes tell. Who was deaf for a while is called: something may have been told."""
        while not self._closed:
            with suppress(psycopg.Error):
                async with await psycopg.AsyncConnection.connect(self._address, autocommit=True) as connection:
                    await connection.execute("LISTEN hermes")
                    self.notifier.notify()
                    async for heard in connection.notifies():
                        self.notifier.notify(heard.payload)
            await asyncio.sleep(1.0)

    def _committed(self, number: str) -> bool:
        """Ask, once the server can be reached again, whether a transaction took place. Raises StoreError."""
        until, said = time.monotonic() + database.PATIENCE, None
        while time.monotonic() <= until:
            time.sleep(0.05)
            try:
                connection = self._connection()
            except Locked:
                continue
            with suppress(psycopg.Error):
                said = _last(connection.execute("SELECT pg_xact_status(%(number)s::xid8)", {"number": number}))
            self._give_back(connection)
            if said in ("committed", "aborted"):
                return bool(said == "committed")
        raise StoreError(
            f"The store {self.place} was lost while it was written to, and whether it was written is not known.",
            hint="Look at what is stored before you send the message again.",
        )

    # --- connections --------------------------------------------------------------------------------------------

    def _connection(self) -> "psycopg.Connection[Row]":
        """One that nobody uses, or a new one."""
        self._refuse_when_closed()
        with suppress(IndexError):
            return self._idle.pop()
        with self._explained():
            made = psycopg.Connection[Row].connect(
                self._address, autocommit=True, prepare_threshold=None, row_factory=rows_of
            )
        made.adapters.register_loader("numeric", Number)
        self._reached = True
        return made

    def _give_back(self, connection: "psycopg.Connection[Row]") -> None:
        """Keep a connection for the next transaction, unless it is broken."""
        with suppress(psycopg.Error):
            connection.rollback()
        if connection.closed or self._closed:
            connection.close()
        else:
            self._idle.append(connection)

    def _forget_idle(self) -> None:
        while self._idle:
            self._idle.pop().close()

    def _refuse_when_closed(self) -> None:
        if self._closed:
            raise StoreError(f"The store {self.place} is closed.")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """The driver's errors as Locked, Unreachable or StoreError in plain words."""
        try:
            yield
        except psycopg.Error as error:
            code, text = code_of(error), (error.diag.message_primary or str(error)).partition("\n")[0]
            if code == "08":
                self._forget_idle()  # they went to the same server
            cause, hint = cause_of(code)
            kind: type[StoreError] = StoreError
            if code == "08" or code.startswith("57P0"):
                kind = Unreachable if self._reached else StoreError
            elif code.startswith((*AGAIN, "23505")):
                kind = Locked
            raise kind(f"The store {self.place} cannot be used: {cause} ({text}).", hint=hint) from error


def _last(cursor: "psycopg.Cursor[Row]") -> str:
    """The only value of the last of several statements."""
    while cursor.nextset():
        pass
    row = cursor.fetchone()
    return str(row[0]) if row else ""
