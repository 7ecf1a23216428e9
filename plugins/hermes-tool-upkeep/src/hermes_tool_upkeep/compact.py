"""Give back the room of what was deleted, so that no byte of it stays: in the file, its log and the search index."""

import sqlite3
from pathlib import Path

from hermes_tool_upkeep.look import opened

__all__ = ["carry_log", "compact", "idle", "room", "shorten_log"]


def compact(path: Path) -> int:
    """Write the store anew without what was deleted; how many bytes it is smaller. Raises UserError while it is locked.

    The search index is merged into one piece first: until then it says what was deleted, too.
    """
    before = _size(path)
    with opened(path, writes=True) as connection:
        connection.execute("INSERT INTO search (search) VALUES ('optimize')")
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return before - _size(path)


def shorten_log(path: Path, bytes_: int) -> bool:
    """Write the log into the store where it is longer, and cut it; whether it is short now."""
    log = path.with_name(f"{path.name}-wal")
    if not log.exists() or log.stat().st_size <= bytes_:
        return True
    with opened(path, writes=True) as connection:
        busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not busy


def carry_log(path: Path) -> None:
    """Write into the store what its log holds, while others go on to write: https://sqlite.org/wal.html, passive.

    Raises UserError where the store cannot be opened.
    """
    with opened(path, writes=True) as connection:
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)")


def room(path: Path) -> float:
    """Return the share of a store's pages that hold nothing any more."""
    with opened(path) as connection:
        [free], [pages] = (connection.execute(f"PRAGMA {name}").fetchone() for name in ("freelist_count", "page_count"))
    return free / pages if pages else 0.0


def idle(path: Path) -> bool:
    """Tell whether no turn is open."""
    with opened(path) as connection:
        try:
            return connection.execute("SELECT 1 FROM turns WHERE state = 'open' LIMIT 1").fetchone() is None
        except sqlite3.OperationalError:  # an older store, which nobody has opened yet
            return False


def _size(path: Path) -> int:
    return sum(one.stat().st_size for end in ("", "-wal") if (one := path.with_name(f"{path.name}{end}")).exists())
