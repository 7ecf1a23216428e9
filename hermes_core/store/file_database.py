"""One connection to the database file, and short transactions that can be run again from the start.

An uncontended commit is faster than a thread hop, so it runs right where it is called. When another process holds the
file, the same transaction is tried again in a worker thread, with waiting: the event loop is never blocked by a lock.
The file is opened once per process: closing a second descriptor would drop the locks of the first (POSIX).
"""

import os
import random
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from hermes_core import database
from hermes_core.database import READ, WRITE, Begin, Damaged, Database, Locked, Transaction
from hermes_core.errors import StoreError
from hermes_core.store.versions.head import SQL
from hermes_core.types import JSON
from hermes_fulltext.words import quoted

T = TypeVar("T")
_BEGIN = {READ: "BEGIN", WRITE: "BEGIN IMMEDIATE"}
_ON_TABLES = {sqlite3.SQLITE_READ, sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE}
_HARMLESS = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
_CAUSES: dict[int, tuple[str, str]] = {
    sqlite3.SQLITE_FULL: ("the disk is full", "Free some space and try again; what was stored before is safe."),
    sqlite3.SQLITE_READONLY: ("it is read-only", "Make the file and its folder writable for you."),
    sqlite3.SQLITE_CANTOPEN: ("it cannot be opened", "Check that its folder exists and is yours."),
    sqlite3.SQLITE_PERM: ("access is denied", "Make the file and its folder writable for you."),
    sqlite3.SQLITE_NOTADB: ("it is not a database", "If it is none of yours, move it away. See: hermes store check"),
    sqlite3.SQLITE_CORRUPT: ("it is damaged", "Keep what can be read: hermes store repair, or hermes backup restore"),
    sqlite3.SQLITE_IOERR: ("the disk reports an error", "Check free space and the disk; then try again."),
    sqlite3.SQLITE_TOOBIG: ("one value is too big", "Split what is to be stored; the bound is one billion bytes."),
    sqlite3.SQLITE_LOCKED: ("another part of Hermes holds it", "Try again."),
    sqlite3.SQLITE_BUSY: (f"another program kept it locked for {database.PATIENCE:.0f} seconds", "Close that program."),
}
_KINDS = {sqlite3.SQLITE_BUSY: Locked, sqlite3.SQLITE_LOCKED: Locked, sqlite3.SQLITE_CORRUPT: Damaged}


@contextmanager
def explained(place: str) -> Iterator[None]:
    """Turn the driver's errors into Locked or StoreError in plain words."""
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:  # of a damaged schema SQLite may tell what is no text
        unnamed = sqlite3.SQLITE_ERROR if isinstance(error, sqlite3.Error) else sqlite3.SQLITE_CORRUPT
        code = getattr(error, "sqlite_errorcode", unnamed) & 0xFF
        cause, hint = _CAUSES.get(code, (str(error), ""))
        raise _KINDS.get(code, StoreError)(f"The store {place} cannot be used: {cause}.", hint=hint) from error


class FileTransaction(Transaction):
    """A transaction in the file, which is ours until the commit."""

    server = False
    dialect = "sqlite"
    sql = SQL
    connection: sqlite3.Connection

    def __init__(self, connection: sqlite3.Connection) -> None:
        super().__init__()
        self.connection = connection

    def rows(self, name: str, /, **values: JSON) -> list[sqlite3.Row]:
        return self.connection.execute(self.sql[name], values).fetchall()

    def row(self, name: str, /, **values: JSON) -> sqlite3.Row | None:
        row: sqlite3.Row | None = self.connection.execute(self.sql[name], values).fetchone()
        return row

    def change(self, name: str, /, **values: JSON) -> sqlite3.Cursor:
        return self.connection.execute(self.sql[name], values)

    def add(self, name: str, /, **values: JSON) -> int:
        done = self.change(name, **values)
        return int(done.lastrowid or 0) if done.rowcount else 0

    def found(self, groups: Sequence[Sequence[str]], first: int, last: int, limit: int, order: str) -> list[int]:
        rows = self.rows(f"search_{order}", query=quoted(groups), first=first, last=last, limit=limit)
        return [row for (row,) in rows]

    def objects(self) -> dict[str, str]:
        named = "SELECT name, coalesce(sql, '') FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'"
        return dict(map(tuple, self.connection.execute(named)))

    @contextmanager
    def confined(self, prefix: str, kept: str) -> Iterator[None]:
        def judge(action: int, name: str | None, *_: str | None) -> int:
            own = action in _ON_TABLES and str(name).startswith(prefix) and name != kept
            return sqlite3.SQLITE_OK if own or action in _HARMLESS else sqlite3.SQLITE_DENY

        self.connection.set_authorizer(judge)
        try:
            yield
        finally:
            self.connection.set_authorizer(None)


class FileDatabase(Database):
    """The one connection of a store in a file."""

    def __init__(self, path: Path, *, durability: str = "normal", mend: Callable[[], bool] | None = None) -> None:
        """``mend`` is asked once, in a worker thread, when it is damaged; whether it is worth another try."""
        super().__init__()
        self._mend = mend
        self.place = str(path.absolute())
        self._lock = threading.RLock()
        with suppress(OSError):  # only ever a new file, which holds no locks yet; sqlite3 says what is wrong
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        with suppress(OSError):  # SQLite takes what has no head for new; another process may be about to write it
            if (found := path.stat()).st_size < 100 and (found.st_size or found.st_mtime < time.time() - 60):
                raise StoreError(f"The store {path} cannot be used: it was emptied.", hint="See: hermes store check")
        # What has no log of its own can be read where nothing can be written.
        fixed = not os.access(path.parent, os.W_OK) and not path.with_name(f"{path.name}-wal").exists()
        uri = f"{path.absolute().as_uri()}{'?immutable=1' if fixed else ''}"
        with explained(self.place):
            self.connection = sqlite3.connect(uri, timeout=0, isolation_level=None, check_same_thread=False, uri=True)
        self.connection.row_factory = sqlite3.Row
        try:
            self._patiently(lambda: self._prepare(durability))
        except BaseException:
            self.connection.close()
            raise
        self._opened = self._file()

    def _file(self) -> int:
        """Return what tells the file at the place from others; 0 where none is."""
        try:
            return os.stat(self.place).st_ino  # noqa: PTH116 - each write asks
        except FileNotFoundError:
            return 0

    def _prepare(self, durability: str) -> None:
        run = self.connection.execute
        if run("PRAGMA journal_mode").fetchone()[0] != "wal":
            run("PRAGMA journal_mode=WAL")
        run(f"PRAGMA synchronous={'FULL' if durability == 'full' else 'NORMAL'}")
        # Fewer, larger write-backs: a third more commits a second. What is deleted is overwritten, whatever the build.
        for told in ("foreign_keys=ON", "secure_delete=ON", "wal_autocheckpoint=4000", "journal_size_limit=33554432"):
            run(f"PRAGMA {told}")

    def keep(self, name: str) -> None:
        draft = Path(f"{self.place}.{name}~{os.getpid()}")
        try:
            with self._lock, explained(self.place):
                self.connection.execute("VACUUM INTO ?", (str(draft),))
            draft.chmod(0o600)
            draft.replace(f"{self.place}.{name}")
        finally:
            draft.unlink(missing_ok=True)

    def close(self) -> None:
        with self._lock:
            self.connection.close()

    async def run(self, work: Callable[[Transaction], T], begin: Begin = WRITE, *, long: bool = False) -> T:
        if not long and self._lock.acquire(blocking=False):
            try:
                with suppress(Locked, Damaged), explained(self.place):
                    return self._attempt(work, begin)
            finally:
                self._lock.release()
        return await self.in_thread(work, begin)

    def transact(
        self, work: Callable[[Transaction], T], begin: Begin = WRITE, stop: threading.Event | None = None
    ) -> T:
        return self._patiently(lambda: self._attempt(work, begin), stop)

    def _patiently(self, attempt: Callable[[], T], stop: threading.Event | None = None) -> T:
        """Try again while another process holds the file, and once it is mended; nobody here waits for the lock."""
        stop = stop or threading.Event()
        until, pause = time.monotonic() + database.PATIENCE, 0.001
        while not stop.is_set():
            try:
                with self._lock, explained(self.place):
                    return attempt()
            except Locked:
                if time.monotonic() > until:
                    raise
            except Damaged:
                mend, self._mend = self._mend, None
                if mend is None or not mend():
                    raise
            stop.wait(pause * random.uniform(0.5, 1.5))  # noqa: S311 - jitter, not a secret
            pause = min(pause * 1.5, 0.05)
        raise StoreError("The write was given up before it began.")

    def _attempt(self, work: Callable[[Transaction], T], begin: Begin) -> T:
        transaction = FileTransaction(self.connection)
        try:
            self.connection.execute(_BEGIN[begin])
            if begin == WRITE and self._file() != self._opened:
                raise StoreError(f"The store {self.place} was deleted or replaced in use.", hint="hermes store check")
            result = work(transaction)
            self.connection.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):  # the error that led here is the one to tell
                self.connection.rollback()
            raise
        for follow in transaction.committed:
            follow()
        if transaction.notices:
            self.notifier.notify(*transaction.notices)
        return result
