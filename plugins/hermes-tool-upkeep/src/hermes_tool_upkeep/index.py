"""The search index and all other indexes: they are made from the rows, and can be made from them again."""

import sqlite3
from collections.abc import Mapping

from hermes_core.codec import searchable, stored
from hermes_fulltext.words import index_words

__all__ = ["derived", "mend", "missing", "search_again", "unfound"]

_SEARCH = (
    "CREATE VIRTUAL TABLE search USING fts5(words, content='', columnsize=0, tokenize='unicode61 remove_diacritics 2')"
)
_OWNER = "\ue000"  # how a message's owner stands in the index, before their number
_COUNTED = "SELECT owner, count(*) FROM messages GROUP BY owner"


def derived(connection: sqlite3.Connection) -> str:
    """Say what is wrong with the search index; empty if nothing is. It reads all of it, in a transaction it drops."""
    try:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO search (search) VALUES ('integrity-check')")
        return unfound(connection)
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_READONLY):
            raise
        return f"the search index is damaged: {error}"
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def unfound(connection: sqlite3.Connection) -> str:
    """Say how many messages the search index lacks; empty where it has all."""
    try:
        lost = missing(connection)
    except sqlite3.DatabaseError as error:
        if "vtable" not in str(error) and "no such" not in str(error) and "corrupt" not in str(error):
            raise
        return f"the search index is damaged: {error}"
    return f"{lost} messages are not found by a search" if lost else ""


def missing(connection: sqlite3.Connection) -> int:
    """Count the messages that are not in the search index, or there without being stored."""
    there: Mapping[int, int] = dict(connection.execute(_COUNTED).fetchall())
    connection.execute("CREATE VIRTUAL TABLE temp.indexed USING fts5vocab(main, search, row)")
    try:
        low, high = _OWNER, chr(ord(_OWNER) + 1)
        rows = connection.execute("SELECT term, doc FROM indexed WHERE term >= ? AND term < ?", (low, high)).fetchall()
    finally:
        connection.execute("DROP TABLE temp.indexed")
    found = {int(term[1:]): doc for term, doc in rows if term[1:].isdigit()}
    return sum(abs(there.get(owner, 0) - found.get(owner, 0)) for owner in there.keys() | found.keys())


def search_again(connection: sqlite3.Connection) -> int:
    """Make the search index anew, in one transaction; how many messages are in it."""
    with _whole(connection):
        try:
            connection.execute("INSERT INTO search (search) VALUES ('delete-all')")
        except sqlite3.DatabaseError:  # it is too damaged to be emptied, or not there
            connection.execute("DROP TABLE IF EXISTS search")
            connection.execute(_SEARCH)
        connection.execute("INSERT INTO search (search, rank) VALUES ('automerge', 8)")
        count = 0
        for number, owner, body in connection.execute("SELECT id, owner, body FROM messages ORDER BY id"):
            words = index_words(searchable(stored(body).parts), owner)
            connection.execute("INSERT INTO search (rowid, words) VALUES (?, ?)", (number, words))
            count += 1
    return count


def mend(connection: sqlite3.Connection) -> None:
    """Make all other indexes anew, in one transaction. Raises sqlite3.DatabaseError when the rows are damaged."""
    with _whole(connection):
        connection.execute("REINDEX")


class _whole:  # noqa: N801 - reads as a word of its caller
    """One transaction, taken at once: all of it happens, or nothing."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._connection.execute("ROLLBACK" if kind else "COMMIT")
