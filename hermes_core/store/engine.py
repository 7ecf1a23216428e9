"""One connection to the database file, and short transactions that can be run again from the start.

An uncontended commit is faster than a thread hop, so it runs right where it is called. When another process holds the
file, the same transaction is tried again in a worker thread, with waiting: the event loop is never blocked by a lock.
The file is opened once per process: closing a second descriptor would drop the locks of the first (POSIX).
"""

import asyncio
import os
import random
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from hermes_core.errors import StoreError
from hermes_core.store.bells import Bells
from hermes_core.store.versions.head import SQL
from hermes_core.types import JSON

T = TypeVar("T")
READ, WRITE = "BEGIN", "BEGIN IMMEDIATE"
PATIENCE = 30.0  # seconds to wait for another process before giving up
_CAUSES: dict[int, tuple[str, str]] = {
    sqlite3.SQLITE_FULL: ("the disk is full", "Free some space and try again; what was stored before is safe."),
    sqlite3.SQLITE_READONLY: ("it is read-only", "Make the file and its folder writable for you."),
    sqlite3.SQLITE_CANTOPEN: ("it cannot be opened", "Check that its folder exists and is yours."),
    sqlite3.SQLITE_PERM: ("access is denied", "Make the file and its folder writable for you."),
    sqlite3.SQLITE_NOTADB: ("it is not a database", "Move the file away; Hermes makes a new one."),
    sqlite3.SQLITE_CORRUPT: ("it is damaged", "Restore a copy, or move the file away; Hermes makes a new one."),
    sqlite3.SQLITE_IOERR: ("the disk reports an error", "Check free space and the disk; then try again."),
    sqlite3.SQLITE_TOOBIG: ("one value is too big", "Split what is to be stored; the bound is one billion bytes."),
    sqlite3.SQLITE_LOCKED: ("another part of Hermes holds it", "Try again."),
    sqlite3.SQLITE_BUSY: (f"another program kept it locked for {PATIENCE:.0f} seconds", "Close that program."),
}


class Locked(StoreError):
    """Somebody else holds the file; the transaction did not happen and is tried again while patience lasts."""


@contextmanager
def explained(place: str) -> Iterator[None]:
    """The driver's errors as Locked or StoreError in plain words."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        cause, hint = _CAUSES.get(code, (str(error), ""))
        kind = Locked if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED) else StoreError
        raise kind(f"The store {place} cannot be used: {cause}.", hint=hint) from error


class Transaction:
    """What a unit of work may use: statements by name. ``committed`` runs after the commit, in order.

    On a ``server`` others write at the same time; here the file is ours until the commit.
    """

    server = False
    sql = SQL

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.committed: list[Callable[[], None]] = []
        self.told: list[str] = []

    def rows(self, name: str, /, **values: JSON) -> list[sqlite3.Row]:
        """Every row of a query."""
        return self.connection.execute(self.sql[name], values).fetchall()

    def row(self, name: str, /, **values: JSON) -> sqlite3.Row | None:
        """The first row of a query, or None."""
        row: sqlite3.Row | None = self.connection.execute(self.sql[name], values).fetchone()
        return row

    def change(self, name: str, /, **values: JSON) -> sqlite3.Cursor:
        """Insert, update or delete; the cursor knows the new row's id and how many rows it met."""
        return self.connection.execute(self.sql[name], values)

    def tell(self, name: str) -> None:
        """After the commit, call who watches a name; on a server, in all processes."""
        self.told.append(name)

    def alone(self, name: str) -> None:
        """Wait until no other transaction is alone with this name, and keep it until the commit."""

    def clock(self) -> float:
        """Seconds on the server's clock; 0 where there is no server, and the clock of the machine is everybody's."""
        return 0.0


class Engine:
    """The one connection of a store; ``place`` says where it is."""

    _threads: Executor | None = None  # of its own; or else asyncio's

    def __init__(self, path: Path, *, durability: str = "normal") -> None:
        self.place = str(path)
        self._lock = threading.RLock()
        self._bells = Bells()
        with suppress(OSError):  # only ever a new file, which holds no locks yet; sqlite3 says what is wrong
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        with explained(self.place):
            self.connection = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
        self.connection.row_factory = sqlite3.Row
        try:
            self._patiently(lambda: self._prepare(durability))
        except BaseException:
            self.connection.close()
            raise

    def _prepare(self, durability: str) -> None:
        run = self.connection.execute
        run("PRAGMA foreign_keys=ON")
        if run("PRAGMA journal_mode").fetchone()[0] != "wal":
            run("PRAGMA journal_mode=WAL")
        run(f"PRAGMA synchronous={'FULL' if durability == 'full' else 'NORMAL'}")
        run("PRAGMA wal_autocheckpoint=4000")  # fewer, larger write-backs: a third more commits a second
        run("PRAGMA journal_size_limit=33554432")

    def close(self) -> None:
        """Close the connection; closing twice is quiet."""
        with self._lock:
            self.connection.close()

    async def run(self, work: Callable[[Transaction], T], begin: str = WRITE, *, long: bool = False) -> T:
        """Run a unit of work in one transaction, again if need be; what may take long, in a worker thread.

        Raises StoreError; then nothing happened.
        """
        if not long and self._lock.acquire(blocking=False):
            try:
                with explained(self.place):
                    return self._attempt(work, begin)
            except Locked:
                pass
            finally:
                self._lock.release()
        return await self._threaded(work, begin)

    async def _threaded(self, work: Callable[[Transaction], T], begin: str) -> T:
        """Run a unit of work in a worker thread, waiting if need be."""
        stop, loop = threading.Event(), asyncio.get_running_loop()
        waiting = loop.run_in_executor(self._threads, self.transact, work, begin, stop)
        try:
            return await asyncio.shield(waiting)
        except asyncio.CancelledError:
            stop.set()
            await asyncio.wait([waiting])  # written by now, or never: nothing happens behind the caller's back
            waiting.exception()
            raise

    def transact(self, work: Callable[[Transaction], T], begin: str = WRITE, stop: threading.Event | None = None) -> T:
        """Run a unit of work and block until it is done; for opening and for worker threads. Raises StoreError."""
        return self._patiently(lambda: self._attempt(work, begin), stop)

    def _patiently(self, attempt: Callable[[], T], stop: threading.Event | None = None) -> T:
        """Try again while another process holds the file; nobody in this one waits for the lock meanwhile."""
        stop = stop or threading.Event()
        until, pause = time.monotonic() + PATIENCE, 0.001
        while not stop.is_set():
            try:
                with self._lock, explained(self.place):
                    return attempt()
            except Locked:
                if time.monotonic() > until:
                    raise
            stop.wait(pause * random.uniform(0.5, 1.5))  # noqa: S311 - jitter, not a secret
            pause = min(pause * 1.5, 0.05)
        raise StoreError("The write was given up before it began.")

    def _attempt(self, work: Callable[[Transaction], T], begin: str) -> T:
        transaction = Transaction(self.connection)
        try:
            self.connection.execute(begin)
            result = work(transaction)
            self.connection.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):  # the error that led here is the one to tell
                self.connection.rollback()
            raise
        for follow in transaction.committed:
            follow()
        if transaction.told:
            self._bells.ring(*transaction.told)
        return result

    def watch(self, name: str, ring: Callable[[], None]) -> Callable[[], None]:
        """Call ``ring`` in this event loop whenever a transaction of this process told a name; what ends that."""
        return self._bells.hang(name, ring)
