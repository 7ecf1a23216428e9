"""The store on a PostgreSQL server: the same units of work, over a few connections, in worker threads.

SQLite lets one transaction write at a time. Here one may write at a time for each session: it is alone with the name of
the session until its commit, so what it read stays true, and every statement sees what was committed before it. What
two sessions could both claim is unique in the tables; who loses such a race runs again and then sees the winner.
A connection that is lost during a commit leaves open whether the commit took place: the server is asked, by the
number of the transaction, before anything is done again.
"""

import asyncio
import random
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any, TypeVar, cast

import psycopg
from psycopg.abc import Buffer
from psycopg.adapt import Loader
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from hermes_core.errors import StoreError, UserError
from hermes_core.store import engine
from hermes_core.store.bells import Bells
from hermes_core.store.engine import READ, WRITE, Engine, Locked, Transaction
from hermes_core.store.versions.head.postgresql import SQL

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
_DEFAULTS: dict[str, Any] = {
    "application_name": "hermes",
    "client_encoding": "utf8",
    "connect_timeout": 10,
    "keepalives_idle": 15,  # seconds; a server that vanished is found out while nobody waits for it
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 15000,  # milliseconds
}
_HINT_URL = "Check store.url; it looks like postgresql://USER:PASSWORD@HOST:5432/DATABASE."
# By the start of an SQLSTATE: cause, what to do now. Those in _AGAIN may go well a moment later.
_CAUSES: dict[str, tuple[str, str]] = {
    "28": (
        "it refuses the user or the password",
        "Check user and password in store.url, and the server's pg_hba.conf.",
    ),
    "3D000": ("it has no database of that name", "Create it on the server: createdb NAME"),
    "42501": ("the user may not do that there", "Make the user the owner: ALTER DATABASE name OWNER TO user"),
    "25006": ("it is read-only", "Name the primary server in store.url, not a standby."),
    "53100": ("its disk is full", "Free some space on the server; what was stored before is safe."),
    "53200": ("it is out of memory", "Give the server more memory, or try again."),
    "53300": ("all its connections are taken", "Raise max_connections on the server, or run fewer programs."),
    "54000": ("one value is too big", "Split what is to be stored."),
    "55P03": ("somebody else kept what is needed locked", "Close the program that holds it."),
    "57P0": ("it is starting or stopping", "Try again in a moment."),
    "40": ("others write the same rows all the time", "Try again."),
    "08": ("it cannot be reached", "Check that the server runs, and host and port in store.url."),
}
_AGAIN = ("40", "53300", "55P03", "57P0", "08")
# The driver gives no SQLSTATE for a connection that was refused; the words are the server's or libpq's.
_WORDS = {
    "28": 'authentication failed|no password supplied|no pg_hba.conf entry|role ".*" (does not exist|is not permitted)',
    "3D000": 'database ".*" does not exist',
    "42501": "permission denied",
    "53300": "too many (clients|connections)|remaining connection slots",
    "57P0": "starting up|shutting down|not yet accepting|recovery mode",
}


class Unreachable(Locked):
    """There is no connection to the server: the transaction did not happen."""


class Row(tuple[Any, ...]):
    """A row by position and by name, as sqlite3 has them."""

    names: dict[str, int]

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(self.names[key] if isinstance(key, str) else key)

    def keys(self) -> list[str]:
        """The names of the columns."""
        return list(self.names)


@cache
def _row(*columns: str) -> type[Row]:
    names: dict[str, int] = {}
    for at, name in enumerate(columns):
        names.setdefault(name, at)
    return type("Row", (Row,), {"names": names})


def _rows(cursor: "psycopg.Cursor[Any]") -> Callable[[Sequence[Any]], Row]:
    return _row(*(column.name for column in cursor.description or ()))


class Cursor(psycopg.Cursor[Row]):
    """A cursor that knows the id of a new row, as sqlite3's does: every insert returns it."""

    @property
    def lastrowid(self) -> int:
        """The id of the row that was added; 0 when none was."""
        row = self.fetchone() if self.description else None
        return row[0] if row else 0


class Number(Loader):
    """A sum of whole numbers is a whole number."""

    def load(self, data: Buffer) -> int | float:
        """The number."""
        text = bytes(data)
        return int(text) if text.lstrip(b"-").isdigit() else float(text)


class ServerTransaction(Transaction):
    """A transaction on a server, where others write at the same time."""

    server = True
    sql = SQL
    _clock = 0.0

    def tell(self, name: str) -> None:
        super().tell(name)
        self.connection.execute("SELECT pg_notify('hermes', %(name)s)", {"name": name})

    def alone(self, name: str) -> None:
        [(self._clock,)] = self.connection.execute(_ALONE, {"name": name})

    def clock(self) -> float:
        if not self._clock:
            [(self._clock,)] = self.connection.execute("SELECT extract(epoch FROM clock_timestamp())::float8")
        return self._clock


class Server(Engine):
    """The connections of one process to a server; ``place`` names it without its password."""

    def __init__(self, url: str) -> None:
        """Raises UserError for an address that is none, StoreError when the server cannot be used."""
        self._address, self.place = _parsed(url)
        self._lock = threading.RLock()
        self._bells = Bells()
        self._listening: asyncio.Task[None] | None = None
        self._idle: list[psycopg.Connection[Row]] = []
        self._closed = self._reached = False
        self._threads: ThreadPoolExecutor = ThreadPoolExecutor(CONNECTIONS, "hermes-store")
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
        """Close the connections; what runs is finished first. Closing twice is quiet."""
        self._closed = True
        if self._listening:
            with suppress(RuntimeError):  # its loop is closed, and it with it
                self._listening.get_loop().call_soon_threadsafe(self._listening.cancel)
        self._threads.shutdown()
        self._forget_idle()

    async def run(self, work: Callable[[Transaction], T], begin: str = WRITE, *, long: bool = False) -> T:
        """Run a unit of work in one transaction, again if need be; always in a worker thread. Raises StoreError."""
        self._refuse_when_closed()
        return await self._threaded(work, begin)

    def transact(self, work: Callable[[Transaction], T], begin: str = WRITE, stop: threading.Event | None = None) -> T:
        """Run a unit of work and block until it is done; for opening and for worker threads. Raises StoreError."""
        stop = stop or threading.Event()
        until, pause, races = time.monotonic() + engine.PATIENCE, 0.005, 0
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

    def _attempt(self, work: Callable[[Transaction], T], begin: str) -> T:
        connection = self._connection()
        transaction = ServerTransaction(cast("Any", connection))
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
        if transaction.told:
            self._bells.ring(*transaction.told)
        return result

    def watch(self, name: str, ring: Callable[[], None]) -> Callable[[], None]:
        """The same for transactions of every process, over one connection more."""
        if self._listening is None or self._listening.done():
            self._listening = asyncio.create_task(self._listen())
        return super().watch(name, ring)

    async def _listen(self) -> None:
        """Hear what other processes tell. Who was deaf for a while is called: something may have been told."""
        while not self._closed:
            with suppress(psycopg.Error):
                async with await psycopg.AsyncConnection.connect(self._address, autocommit=True) as connection:
                    await connection.execute("LISTEN hermes")
                    self._bells.ring()
                    async for heard in connection.notifies():
                        self._bells.ring(heard.payload)
            await asyncio.sleep(1.0)

    def _committed(self, number: str) -> bool:
        """Ask, once the server can be reached again, whether a transaction took place. Raises StoreError."""
        until, said = time.monotonic() + engine.PATIENCE, None
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
                self._address, autocommit=True, prepare_threshold=None, row_factory=_rows
            )
        made.cursor_factory = Cursor
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
            code, text = _code(error), (error.diag.message_primary or str(error)).partition("\n")[0]
            if code == "08":
                self._forget_idle()  # they went to the same server
            cause, hint = next((row for start, row in _CAUSES.items() if code.startswith(start)), ("it said", ""))
            kind: type[StoreError] = StoreError
            if code == "08" or code.startswith("57P0"):
                kind = Unreachable if self._reached else StoreError
            elif code.startswith((*_AGAIN, "23505")):
                kind = Locked
            raise kind(f"The store {self.place} cannot be used: {cause} ({text}).", hint=hint) from error


def _code(error: psycopg.Error) -> str:
    """The SQLSTATE of an error, or the start of the one it should have; 08 when the connection is no more."""
    if error.sqlstate:
        return error.sqlstate
    if not isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return ""
    return next((code for code, words in _WORDS.items() if re.search(words, str(error))), "08")


def _last(cursor: "psycopg.Cursor[Row]") -> str:
    """The only value of the last of several statements."""
    while cursor.nextset():
        pass
    row = cursor.fetchone()
    return str(row[0]) if row else ""


def _parsed(url: str) -> tuple[str, str]:
    """An address for the driver, and one for people. Raises UserError, without a word of what may be a password."""
    try:
        if not url.startswith(("postgresql://", "postgres://")):
            raise ValueError
        given = conninfo_to_dict(url)
    except (ValueError, psycopg.Error):
        raise UserError("store.url is not an address of a PostgreSQL server.", hint=_HINT_URL) from None
    host, port, name = (str(given.get(key) or "") for key in ("host", "port", "dbname"))
    if "@" in host + name or not port.replace(",", "").isdigit() * bool(port) + (not port):
        hint = "Write special characters of the password as %40 for @, %2F for /, %3A for : and %23 for #."
        raise UserError("store.url cannot be read: host and port are not clear.", hint=hint)
    shown = "postgresql://" + (host if "/" not in host else "") + (f":{port}" if port else "") + f"/{name}"
    return make_conninfo(**{**_DEFAULTS, **given}), shown
