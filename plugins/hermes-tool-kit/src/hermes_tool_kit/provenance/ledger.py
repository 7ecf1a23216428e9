"""The ledger of a home: which folders a person said are known, and which files and trees came from outside.

It is about paths of this machine, so it lies in a file of this machine, wherever the store is. Several processes use it
side by side. What it does not know it calls outside.
"""

import hashlib
import os
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from hermes_closed.closed import wide
from hermes_core.environment import switched_on
from hermes_core.errors import UserError

__all__ = ["MADE", "Folder", "Ledger", "Mark", "digest_of", "project_of", "trust_for_run"]

TRUST = "HERMES_TRUST"  # a variable of a run by which a person says that the session's folder is known
MOST = 100_000  # marks of single files; beyond it the folder with the most of them is marked as a whole
LARGEST = 16_000_000  # bytes of a file that is known again by its digest
TICK = 10_000_000  # nanoseconds that the clocks of file systems may be behind
_SYSTEM = ("/bin", "/etc", "/lib", "/lib32", "/lib64", "/nix/store", "/sbin", "/usr", "/dev", "/proc", "/sys")
# What packages and builds leave: what is in it is read by programs.
MADE = frozenset((
    "node_modules", ".venv", "venv", "env", ".tox", ".nox", "target", "dist", "build", "__pycache__", "vendor",
    "site-packages",
))  # fmt: skip
_USUAL = frozenset((
    ".git", "Cargo.lock", "Gemfile.lock", "composer.lock", "go.mod", "go.sum", "package-lock.json", "package.json",
    "pnpm-lock.yaml", "poetry.lock", "uv.lock", "yarn.lock",
))  # fmt: skip
_TABLES = """
CREATE TABLE IF NOT EXISTS folders (path TEXT PRIMARY KEY, known INTEGER NOT NULL, why TEXT NOT NULL, at REAL NOT NULL);
CREATE TABLE IF NOT EXISTS files (path TEXT PRIMARY KEY, digest TEXT NOT NULL, size INTEGER NOT NULL, why TEXT NOT NULL,
  at REAL NOT NULL);
CREATE INDEX IF NOT EXISTS files_by_size ON files (size, digest);
CREATE TABLE IF NOT EXISTS windows (id INTEGER PRIMARY KEY, folder TEXT NOT NULL, since INTEGER NOT NULL,
  until INTEGER NOT NULL, pid INTEGER NOT NULL, why TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS declined (path TEXT PRIMARY KEY, at REAL NOT NULL);
"""
_VERSION = 2


class Folder(NamedTuple):
    """What is said of a folder: that it is known, or that all in it came from outside. ``at``: seconds since 1970."""

    path: str
    known: bool
    why: str
    at: float


class Mark(NamedTuple):
    """A file that came from outside. ``digest`` is empty where it was too large to read."""

    path: str
    digest: str
    size: int


class Ledger:
    """What is known of files, for a ``home`` of Hermes. ``cwd`` is the folder of the session that asks.

    With ``HERMES_TRUST`` in the environment that folder is known for this run, with the repository that it lies in, as
    far as nothing in it is marked. Where the variable is a path, that holds of no other one.
    """

    def __init__(self, home: Path, cwd: str = "") -> None:
        self.home = os.path.realpath(home)
        self._file = Path(home, "data", "provenance.db")
        self._cwd = _of_run(cwd) if cwd and switched_on(TRUST) else ""
        self._rows: sqlite3.Connection | None = None
        self._lock = threading.RLock()
        self._others: dict[str, Ledger] = {}

    def of(self, cwd: str) -> "Ledger":
        """The same for the session that works in another folder."""
        if not switched_on(TRUST):
            return self
        if cwd not in self._others:
            self._others[cwd] = Ledger(Path(self.home), cwd)
        return self._others[cwd]

    def close(self) -> None:
        """Let go of the file; it is opened again when it is needed."""
        for other in self._others.values():
            other.close()
        with self._lock:
            if self._rows is not None:
                self._rows.close()
                self._rows = None

    def known(self, path: str | Path) -> bool:
        """Whether a folder, or the one that a file is in, is known: its instructions may be followed."""
        real = os.path.realpath(path)
        with self._reading() as rows:
            return self._is_known(rows, real)

    def outside(self, path: str | Path) -> bool:
        """Whether what is read of a file comes from outside. Of a folder: whether all in it does."""
        real = os.path.realpath(path)
        if _below(real, *_SYSTEM):
            return False
        with self._reading() as rows:
            return not self._is_known(rows, real) or (rows is not None and _marked(rows, real))

    def marks_in(self, folder: str | Path, most: int = 5_000) -> Sequence[str] | None:
        """The marked files and trees below a folder; None for more than that, and where something is being written."""
        with self._reading() as rows:
            if rows is None:
                return ()
            real = os.path.realpath(folder)
            lowest, highest = _range(real)
            now = "SELECT 1 FROM windows WHERE folder = ? OR folder BETWEEN ? AND ? OR ? LIKE folder || '/%'"
            if rows.execute(now, (real, lowest, highest, real)).fetchone():
                return None
            found = [
                *rows.execute("SELECT path FROM files WHERE path BETWEEN ? AND ? LIMIT ?", (lowest, highest, most + 1)),
                *rows.execute("SELECT path FROM folders WHERE NOT known AND path BETWEEN ? AND ?", (lowest, highest)),
            ]
        return None if len(found) > most else [path for (path,) in found]

    def holds(self, folder: str | Path) -> bool:
        """Whether something from outside lies in a folder, beside what packages and builds leave there."""
        marks, real = self.marks_in(folder), os.path.realpath(folder)
        return marks is None or any(
            MADE.isdisjoint(mark.removeprefix(real).split("/")) and not mark.endswith("/.git") for mark in marks
        )

    def names(self, folder: str | Path, text: str) -> bool:
        """Whether a text names something from outside that lies in a folder: a name may be an order too.

        What packages and builds leave is passed over, and the names that they give.
        """
        if not (marks := self.marks_in(folder)):
            return marks is None
        real = os.path.realpath(folder)
        return any(name in text for mark in marks for name in _telling(mark[len(real) + 1 :]))

    def folders(self) -> Sequence[Folder]:
        """What is said of folders, by path."""
        with self._reading() as rows:
            found = rows.execute("SELECT path, known, why, at FROM folders ORDER BY path").fetchall() if rows else []
        return [Folder(path, bool(known), why, at) for path, known, why, at in found]

    def trust(self, path: str | Path) -> int:
        """A person says that a folder is known, or a file their own: marks in it go. How many went."""
        real = os.path.realpath(path)
        with self._writing() as rows:
            gone = self._drop(rows, real)
            if Path(real).is_dir():
                self._say(rows, real, known=True, why="a person")
                rows.execute("DELETE FROM declined WHERE path = ?", (real,))
        return gone

    def decline(self, path: str | Path) -> None:
        """A person was asked whether a folder is known, and said no: it is as it was, and not asked again."""
        with self._writing() as rows:
            rows.execute("INSERT OR REPLACE INTO declined VALUES (?, ?)", (os.path.realpath(path), time.time()))

    def declined(self) -> Sequence[Folder]:
        """The folders of which a person said no, by path."""
        with self._reading() as rows:
            found = rows.execute("SELECT path, at FROM declined ORDER BY path").fetchall() if rows else []
        return [Folder(path, False, "a person said no", at) for path, at in found]

    def forget(self, path: str | Path) -> bool:
        """What was said of a folder holds no more; whether something was."""
        real = os.path.realpath(path)
        with self._writing() as rows:
            gone = [rows.execute(f"DELETE FROM {one} WHERE path = ?", (real,)) for one in ("folders", "declined")]  # noqa: S608
            return any(one.rowcount for one in gone)

    def own(self, path: str | Path) -> None:
        """A file was written anew from what comes from nowhere else: its mark ends."""
        with self._writing() as rows:
            rows.execute("DELETE FROM files WHERE path = ?", (os.path.realpath(path),))

    def begin(self, folder: str, why: str) -> int:
        """Something begins that may bring files in: what changes in the folder from now on is outside, until ``end``.

        It is on the disk when this returns; after a death it holds on.
        """
        with self._writing() as rows:
            row = (os.path.realpath(folder), time.time_ns() - TICK, 0, os.getpid(), why)
            made = rows.execute("INSERT INTO windows (folder, since, until, pid, why) VALUES (?, ?, ?, ?, ?)", row)
            return made.lastrowid or 0

    def since(self, window: int) -> int:
        """When something began, in nanoseconds since 1970."""
        with self._reading() as rows:
            found = rows.execute("SELECT since FROM windows WHERE id = ?", (window,)).fetchone() if rows else None
        return int(found[0]) if found else 0

    def end(self, window: int, files: Iterable[Mark] = (), trees: Iterable[str] = (), *, whole: bool = True) -> None:
        """It is over, and this is what it brought in. Not ``whole``: more, so that all changed until now is outside."""
        with self._writing() as rows:
            found = rows.execute("SELECT folder, why FROM windows WHERE id = ?", (window,)).fetchone()
            why, now = (found[1] if found else ""), time.time()
            values = [(mark.path, mark.digest, mark.size, why, now) for mark in files]
            rows.executemany(
                "INSERT OR REPLACE INTO files (path, digest, size, why, at) VALUES (?, ?, ?, ?, ?)", values
            )
            for tree in trees:
                self._say(rows, tree, known=False, why=why)
            if whole:
                rows.execute("DELETE FROM windows WHERE id = ?", (window,))
            else:
                rows.execute("UPDATE windows SET until = ? WHERE id = ?", (time.time_ns() + TICK, window))
            self._bound(rows)

    def left(self) -> Sequence[tuple[int, str]]:
        """What processes that died had begun, and in which folder: whoever finds it ends it."""
        from hermes_atomic.processes import is_running

        with self._reading() as rows:
            found = rows.execute("SELECT id, folder, pid FROM windows WHERE until = 0").fetchall() if rows else []
        return [(window, folder) for window, folder, pid in found if pid != os.getpid() and not is_running(pid)]

    def _is_known(self, rows: sqlite3.Connection | None, real: str) -> bool:
        said: tuple[str, bool] = ("", False)
        if rows is not None:
            above = list(_above(real))
            asked = f"SELECT path, known FROM folders WHERE path IN ({','.join('?' * len(above))})"  # noqa: S608
            said = max(((path, bool(known)) for path, known in rows.execute(asked, above)), default=said, key=_longest)
        for mine in (self.home, self._cwd):
            if mine and _below(real, mine) and len(mine) > len(said[0]):
                said = (mine, True)
        return said[1]

    def _drop(self, rows: sqlite3.Connection, real: str) -> int:
        lowest, highest = _range(real)
        gone = 0
        for sql in (
            "DELETE FROM files WHERE path = ? OR path BETWEEN ? AND ?",
            "DELETE FROM folders WHERE NOT known AND (path = ? OR path BETWEEN ? AND ?)",
            "DELETE FROM windows WHERE until AND (folder = ? OR folder BETWEEN ? AND ?)",
        ):
            gone += rows.execute(sql, (real, lowest, highest)).rowcount
        return gone

    def _say(self, rows: sqlite3.Connection, path: str, *, known: bool, why: str) -> None:
        said = (path, known, why, time.time())
        rows.execute("INSERT OR REPLACE INTO folders (path, known, why, at) VALUES (?, ?, ?, ?)", said)

    def _bound(self, rows: sqlite3.Connection) -> None:
        """Where there are too many files, mark the folder that holds the most of them instead."""
        while rows.execute("SELECT count(*) FROM files").fetchone()[0] > MOST:
            count: dict[str, int] = {}
            for (path,) in rows.execute("SELECT path FROM files"):
                folder = path.rpartition("/")[0]
                count[folder] = count.get(folder, 0) + 1
            folder = max(count, key=lambda one: count[one])
            self._say(rows, folder, known=False, why="too many files of it came from outside")
            rows.execute("DELETE FROM files WHERE path BETWEEN ? AND ?", _range(folder))

    def _reading(self) -> "AbstractContextManager[sqlite3.Connection | None]":
        """The ledger, or None where nothing was ever written down."""
        return self._opened(make=False)

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._opened(make=True) as rows:
            assert rows is not None
            rows.execute("BEGIN IMMEDIATE")
            try:
                yield rows
            except BaseException:
                rows.execute("ROLLBACK")
                raise
            rows.execute("COMMIT")

    @contextmanager
    def _opened(self, *, make: bool) -> Iterator[sqlite3.Connection | None]:
        with self._lock:
            try:
                if self._rows is None and (make or self._file.exists()):
                    self._rows = self._connect()
                yield self._rows
            except OSError as error:
                raise self._broken(error.strerror or str(error)) from error
            except sqlite3.Error as error:
                self.close()
                raise self._broken(str(error)) from error

    def _connect(self) -> sqlite3.Connection:
        self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        rows = sqlite3.connect(self._file, timeout=5.0, isolation_level=None, check_same_thread=False)
        try:
            if rows.execute("PRAGMA user_version").fetchone()[0] < _VERSION:
                self._file.chmod(0o600)
                rows.executescript(f"PRAGMA journal_mode = WAL; {_TABLES} PRAGMA user_version = {_VERSION};")
            rows.execute("PRAGMA synchronous = NORMAL")
        except BaseException:
            rows.close()
            raise
        return rows

    def _broken(self, why: str) -> UserError:
        return UserError(
            f"{self._file}, which says what came from outside, cannot be used: {why}.",
            hint="Move it away: then no folder is known until you say so again with `hermes trust add`.",
        )


def trust_for_run(path: str) -> None:
    """A person says that a folder is known as long as this process runs, and what it starts for itself."""
    os.environ[TRUST] = os.path.realpath(path)


def _of_run(cwd: str) -> str:
    """The folder that is known for this run where a session works in ``cwd``; empty where another one is meant."""
    project, said = project_of(os.path.realpath(cwd)), os.environ[TRUST].strip()
    return project if said in (project, os.path.realpath(cwd)) or not said.startswith("/") else ""


def project_of(folder: str) -> str:
    """The root of the repository that a folder lies in, else the folder."""
    roots = (above for above in _above(folder) if os.path.exists(f"{above}/.git") and not wide(above))  # noqa: PTH110
    return next(roots, folder)


def digest_of(path: str) -> str:
    """What a file holds, as 32 hexadecimal digits; empty where it is too large, or cannot be read."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            data = file.read(LARGEST + 1)
    except (OSError, ValueError):
        return ""
    return hashlib.blake2b(data, digest_size=16).hexdigest() if len(data) <= LARGEST else ""


def _marked(rows: sqlite3.Connection, real: str) -> bool:
    if rows.execute("SELECT 1 FROM files WHERE path = ?", (real,)).fetchone():
        return True
    try:
        facts = os.stat(real)  # noqa: PTH116
    except (OSError, ValueError):
        return False
    changed = facts.st_ctime_ns  # no program can set it back
    for folder, since, until in rows.execute("SELECT folder, since, until FROM windows"):
        if _below(real, folder) and since <= changed and (not until or changed <= until):
            return True
    if not facts.st_size or not rows.execute("SELECT 1 FROM files WHERE size = ? LIMIT 1", (facts.st_size,)).fetchone():
        return False
    same = "SELECT 1 FROM files WHERE size = ? AND digest = ? AND digest != ''"
    return bool(rows.execute(same, (facts.st_size, _digest_at(real, facts.st_size, changed))).fetchone())


@lru_cache(maxsize=1_000)
def _digest_at(path: str, _size: int, _changed: int) -> str:
    return digest_of(path)


def _above(path: str) -> Iterator[str]:
    """A path and the folders it lies in, but for the root: nobody can mean all there is."""
    while path not in ("", "/"):
        yield path
        path = path.rpartition("/")[0]


def _telling(path: str) -> Sequence[str]:
    """The names in a path that somebody chose."""
    names = path.split("/")
    return [name for name in names if name and name not in _USUAL] if MADE.isdisjoint(names) else ()


def _below(path: str, *folders: str) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


def _range(folder: str) -> tuple[str, str]:
    """The lowest and the highest path below a folder."""
    return f"{folder}/", f"{folder}/\U0010ffff"


def _longest(said: tuple[str, bool]) -> int:
    return len(said[0])
