"""A look at a store each time it is opened, at as much of it as costs less than a millisecond."""

import random
import sqlite3

from hermes_core.database import Transaction

__all__ = ["glance"]

_PAGES = 256  # of a store that is read as a whole; of a larger one, so many of its messages
_MESSAGES = 16


def glance(tx: Transaction) -> bool:
    """Read what may show damage of a file; whether its search index has the newest message, as it should.

    Doctor reads more. Raises what SQLite does.
    """
    run = tx.connection.execute
    last, owner = run("SELECT id, owner FROM messages ORDER BY id DESC LIMIT 1").fetchone() or (0, 0)
    if run("PRAGMA page_count").fetchone()[0] > _PAGES:
        for number in (random.randint(1, last) for _ in range(_MESSAGES)):  # noqa: S311 - no secret
            run("SELECT body FROM messages WHERE id >= ? LIMIT 1", (number,)).fetchone()
    elif (found := run("PRAGMA quick_check(1)").fetchone()[0]) != "ok":
        error = sqlite3.DatabaseError(found)
        error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise error
    found = run("SELECT 1 FROM search(?) WHERE rowid = ?", (f'"\ue000{owner}"', last)).fetchone()
    return bool(found or not last)
