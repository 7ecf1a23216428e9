"""What the platform must not forget, in one small SQLite file that only its owner can read."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

__all__ = ["AccountStore"]


class AccountStore:
    """JSON values by space and key. A write is on disk when it returns; ``together`` makes several of them one.

    Two processes may not use one account at the same time: the kernel's lease on the account sees to it.
    """

    def __init__(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch(mode=0o600)
        file.chmod(0o600)
        self._db = sqlite3.connect(file, isolation_level=None, timeout=10.0)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")  # survives the death of the process, as the kernel's store
        self._db.execute(
            "CREATE TABLE IF NOT EXISTS shelf (space TEXT, key TEXT, value TEXT NOT NULL, PRIMARY KEY (space, key))"
            " WITHOUT ROWID"
        )

    def get(self, space: str, key: str) -> Any:
        """The value, or None."""
        row = self._db.execute("SELECT value FROM shelf WHERE space = ? AND key = ?", (space, key)).fetchone()
        return None if row is None else json.loads(row[0])

    def put(self, space: str, key: str, value: Any) -> None:
        """Keep a value in place of the one before."""
        text = json.dumps(value, separators=(",", ":"))
        self._db.execute("INSERT OR REPLACE INTO shelf (space, key, value) VALUES (?, ?, ?)", (space, key, text))

    def drop(self, space: str, key: str) -> None:
        """Forget a value; forgetting twice is quiet."""
        self._db.execute("DELETE FROM shelf WHERE space = ? AND key = ?", (space, key))

    def all(self, space: str) -> list[tuple[str, Any]]:
        """Everything in a space, by key."""
        rows = self._db.execute("SELECT key, value FROM shelf WHERE space = ? ORDER BY key", (space,)).fetchall()
        return [(key, json.loads(value)) for key, value in rows]

    @contextmanager
    def together(self) -> Iterator[None]:
        """All writes inside, or none of them. Inside another one it is part of that one. Do not wait inside."""
        if self._db.in_transaction:
            yield
            return
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def close(self) -> None:
        """Close the file."""
        self._db.close()
