"""What is true of the file of a store: whether it is one, and whole."""

import json
import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Literal, NamedTuple

from hermes_core.codec import message_from_json
from hermes_core.errors import UserError
from hermes_tool_upkeep import log
from hermes_tool_upkeep.index import derived, unfound

__all__ = ["NO_TEXT", "Looked", "look", "opened", "readable", "users_of"]

Level = Literal["ok", "derived", "damaged", "foreign", "gone"]
_BUSY = 30.0  # seconds
_STEPS = 20_000  # of SQLite's machine between two looks at the clock
_MOST = 100
_FEW = 20  # messages that are named
_HEAD = 100  # bytes that every database begins with
NO_TEXT = "its schema holds what is no text"  # SQLite's own word of it is none either: Python cannot read it


class Looked(NamedTuple):
    """What was found: how bad it is, and each thing in a line. ``whole`` says that there was time for all of it.

    What is ``derived`` is made from the rows and can be made again; ``damaged`` are the rows themselves.
    """

    level: Level
    lines: Sequence[str] = ()
    whole: bool = True


@contextmanager
def opened(path: Path, *, writes: bool = False) -> Iterator[sqlite3.Connection]:
    """Open the file of a store beside those who use it. Raises UserError, in plain words, for what SQLite says."""
    try:
        with closing(sqlite3.connect(_address(path, writes=writes), uri=True, timeout=_BUSY)) as connection:
            connection.isolation_level = None
            yield connection
    except (sqlite3.Error, UnicodeDecodeError) as error:
        hint = "See what is wrong: hermes store check."
        why = error if isinstance(error, sqlite3.Error) else NO_TEXT
        raise UserError(f"The store {path} cannot be used: {why}.", hint=hint) from error


def look(path: Path, *, seconds: float = 0.0, deep: bool = True) -> Looked:
    """Look at the file of a store; at no more than there is time for, where ``seconds`` are given.

    Without ``deep`` indexes are not held against their rows. It never changes the file.
    """
    if not path.exists():
        return Looked("gone", [f"{path} is not there"])
    if (size := path.stat().st_size) < _HEAD:
        return Looked("gone", [f"{path} was emptied: it has {size} bytes"])
    until = time.monotonic() + seconds
    unread = log.unread(path)  # first: who writes next writes over it
    try:
        with closing(sqlite3.connect(_address(path), uri=True, timeout=_BUSY)) as connection:
            connection.isolation_level = None
            if seconds:
                connection.set_progress_handler(lambda: time.monotonic() > until, _STEPS)
            found = _look(connection, path, deep=deep)
        if unread and found.level in ("ok", "derived"):
            return Looked("damaged", [unread, *found.lines])
        return found
    except sqlite3.DatabaseError as error:
        if _said(error) == "SQLITE_INTERRUPT":
            return Looked("ok", whole=False)
        if _said(error) == "SQLITE_NOTADB" and not _like_a_store(path):
            return Looked("foreign", [f"{path} is not a database"])
        if _said(error).startswith(("SQLITE_BUSY", "SQLITE_CANTOPEN", "SQLITE_READONLY")):
            raise UserError(f"The store {path} cannot be read now: {error}.") from error
        return Looked("damaged", [str(error)])
    except UnicodeDecodeError:
        return Looked("damaged", [NO_TEXT])


def _look(connection: sqlite3.Connection, path: Path, *, deep: bool) -> Looked:
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if tables and "alembic_version" not in tables and not {"messages", "sessions"} & tables:
        return Looked("foreign", [f"{path} is a database of another program"])
    check = "integrity_check" if deep else "quick_check"
    found = [str(row[0]) for row in connection.execute(f"PRAGMA {check}({_MOST})")]
    lines = [] if found == ["ok"] else [line for text in found for line in text.splitlines() if line[:3] != "***"]
    lost = [line for table in sorted(tables) if (lines or deep) and (line := _unread(connection, table))]
    if deep and "messages" in tables and not lost:
        lost = _garbled(connection)
    if lines or lost:
        return Looked("damaged" if lost or _of_pages(lines) else "derived", [*lost, *lines])
    if "messages" in tables:
        if deep and os.access(path.parent, os.W_OK):
            with opened(path, writes=True) as writing:
                wrong = derived(writing)
        else:
            wrong = unfound(connection)
        return Looked("derived" if wrong else "ok", [wrong] if wrong else [])
    return Looked("ok")


def _garbled(connection: sqlite3.Connection) -> list[str]:
    """Say which messages cannot be read although their rows can."""
    rows = connection.execute("SELECT id, session_id, body FROM messages")
    found = [(number, session) for number, session, body in rows if not readable(body)]
    more = [f"and {len(found) - _FEW} more"] if len(found) > _FEW else []
    return [f"message {number} of session {session} cannot be read" for number, session in found[:_FEW]] + more


def readable(body: str) -> bool:
    """Tell whether the row of a message says it."""
    try:
        message_from_json(json.loads(body))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return False
    return True


def _of_pages(lines: Sequence[str]) -> bool:
    """Tell whether more is wrong than an index that does not fit its rows."""
    harmless = ("missing from index", "wrong # of entries in index", "non-unique entry in index")
    return any(not any(words in line for words in harmless) for line in lines)


def _unread(connection: sqlite3.Connection, table: str) -> str:
    """Say that a table cannot be read to its end, if so."""
    try:
        for _ in connection.execute(f'SELECT * FROM "{table}" NOT INDEXED'):  # noqa: S608 - a name of the schema's
            pass
    except sqlite3.DatabaseError as error:
        if _said(error) == "SQLITE_INTERRUPT":
            raise
        said = str(error).partition(" with text")[0]
        return "" if table.startswith("search") else f"{table} cannot be read whole: {said}"
    return ""


def _address(path: Path, *, writes: bool = False) -> str:
    """Return how SQLite opens it; where nothing can be written, without the files that it would make for that."""
    fixed = not os.access(path.parent, os.W_OK) and not path.with_name(f"{path.name}-wal").exists()
    return f"{path.absolute().as_uri()}?mode={'rw' if writes else 'ro'}{'&immutable=1' if fixed else ''}"


def _said(error: sqlite3.Error) -> str:
    """Name what SQLite found; empty for what Python's driver found by itself, such as text that is none."""
    return getattr(error, "sqlite_errorname", "")


def _like_a_store(path: Path) -> bool:
    """Tell whether a file that SQLite takes for no database was a store all the same: its schema stands in it."""
    with path.open("rb") as file:
        return b"CREATE TABLE alembic_version" in file.read(1 << 20)


def users_of(path: Path) -> list[str]:
    """Return who else has a database open, by name and number, as far as the system tells."""
    mine, found = str(path.resolve()), []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            named = {str(handle.readlink()).removesuffix("-wal").removesuffix("-shm") for handle in _open_in(process)}
            if mine in named and process.name != str(os.getpid()):
                found.append(f"{(process / 'comm').read_text().strip()} (process {process.name})")
        except OSError:
            continue
    return found


def _open_in(process: Path) -> Iterator[Path]:
    for handle in (process / "fd").iterdir():
        if handle.is_symlink():
            yield handle
