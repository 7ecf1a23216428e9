"""Take the name of a session that is gone out of the ledger."""

import sqlite3
from contextlib import closing
from pathlib import Path

from hermes_core.errors import UserError

__all__ = ["unname"]

_GONE = "a session that is gone"


def unname(home: Path, session_id: str) -> None:
    """Say it of nothing any more that came in there: it stays marked. No byte of the name stays in the file or its log.

    Raises UserError when the ledger cannot be written.
    """
    file = home / "data" / "provenance.db"
    if not file.exists():
        return
    try:
        with closing(sqlite3.connect(file, timeout=5.0, isolation_level=None)) as rows:
            rows.execute("PRAGMA secure_delete = ON")
            rows.execute("BEGIN IMMEDIATE")
            for table in ("files", "folders", "windows"):
                named = f"UPDATE {table} SET why = replace(why, ?, ?) WHERE instr(why, ?)"  # noqa: S608 - ours
                rows.execute(named, (session_id, _GONE, session_id))
            rows.execute("COMMIT")
            rows.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    except sqlite3.Error as error:
        raise UserError(f"{file} still names the session {session_id}: {error}.", hint="Erase it once more.") from error
