"""What a store keeps of a person, made comparable: every row that is theirs or speaks of them, without counters.

Numbers that a table gives out to all people in turn say nothing about anybody, so they are left out, as times are.
"""

import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

__all__ = ["rows_of_person"]

_COUNTED = frozenset(("last", "mark", "message_id", "result_id", "upto", "seq"))
_SERVICE = re.compile(
    r"\b\d{9}:\d+:q?\d+\b"  # an update and its message
    r"|(?<=reply_to=)\d+|(?<=message_id\": \")\d+|(?<=message_id\":\")\d+"
    r"|(?<=receipts=)\[.*?\]|(?<=placeholders=)\[.*?\]"
)
_PROCESS = frozenset(("holder", "pid", "fence", "beat", "place", "trace"))


def rows_of_person(store: Path, names: tuple[str, ...]) -> dict[str, list[str]]:
    """The rows by table, in the order in which they were written. ``names`` are what the person is called."""
    with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as connection:
        connection.row_factory = sqlite3.Row
        people = {row["id"]: str(row["person"]) for row in connection.execute("SELECT id, person FROM owners")}
        owned = {number for number, person in people.items() if _names(person, names)}
        rows = {name: _all(connection, name) for name in _tables(connection)}
    sessions = {str(row["id"]) for row in rows["sessions"] if row["owner"] in owned}
    found, numbers = {}, _Numbers()
    for table, held in rows.items():
        texts = [numbers(_text(row, people)) for row in held if _is_theirs(row, people, names, owned, sessions)]
        if texts:
            found[table] = texts
    return found


class _Numbers:
    """Numbers of messages and updates, which a service counts over all chats: each becomes its own in order."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def __call__(self, text: str) -> str:
        return _SERVICE.sub(lambda found: self._known.setdefault(found[0], f"<number {len(self._known) + 1}>"), text)


def _tables(connection: sqlite3.Connection) -> list[str]:
    listed = connection.execute("PRAGMA table_list").fetchall()
    return sorted(
        str(row["name"])
        for row in listed
        if row["type"] == "table" and not str(row["name"]).startswith("sqlite_") and "version" not in row["name"]
    )


def _all(connection: sqlite3.Connection, table: str) -> list[dict[str, Any]]:
    columns = connection.execute(f'PRAGMA table_info("{table}")').fetchall()
    kept = [row["name"] for row in columns]
    loose = {row["name"] for row in columns if row["name"] in ("id", "seq") and row["type"] == "INTEGER"}
    loose |= {row["name"] for row in columns if row["type"] in ("FLOAT", "REAL", "BLOB")}
    listed = connection.execute("SELECT wr FROM pragma_table_list WHERE name = ?", (table,)).fetchone()
    order = "" if listed["wr"] else " ORDER BY rowid"
    rows = connection.execute(f'SELECT * FROM "{table}"{order}').fetchall()
    return [{name: None if name in loose else row[name] for name in kept} for row in rows]


def _is_theirs(
    row: dict[str, Any], people: dict[int, str], names: tuple[str, ...], owned: set[int], sessions: set[str]
) -> bool:
    if "#" in str(row.get("person", "")):  # of a chat that all share: who wrote there last
        return False
    if "owner" in row and isinstance(row["owner"], int):
        return row["owner"] in owned
    if row.get("session_id"):
        return row["session_id"] in sessions
    return any(isinstance(value, str) and _names(value, names) for value in row.values())


def _names(text: str, names: tuple[str, ...]) -> bool:
    return re.search(rf"(?<![a-z0-9])(?:{'|'.join(names)})(?![a-z0-9])", text) is not None


def _text(row: dict[str, Any], people: dict[int, str]) -> str:
    told = []
    for name, value in row.items():
        if value is None or name in _COUNTED or name in _PROCESS:
            continue
        if name == "owner" and isinstance(value, int):
            value = people.get(value, "nobody")
        told.append(f"{name}={value}")
    return " ".join(told)
