"""Bring sessions back that only their transcripts have."""

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

__all__ = ["erased", "only_transcripts"]


def only_transcripts(home: Path, path: Path) -> Sequence[Path]:
    """Return the transcripts of a home whose sessions the store has not, and that nobody erased."""
    there = {file.stem: file for file in sorted((home / "sessions").glob("*.jsonl"))}
    if not there:
        return []
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            known = {row[0] for row in connection.execute("SELECT id FROM sessions")}
    except (sqlite3.Error, UnicodeDecodeError) as error:
        if getattr(error, "sqlite_errorname", "") not in ("SQLITE_CANTOPEN", "SQLITE_ERROR"):
            return []  # it is damaged, which is told by itself
        known = set()  # there is no store, or an empty one
    gone = erased(home)
    return [file for name, file in there.items() if name not in known and name not in gone]


def erased(home: Path) -> set[str]:
    """Return the sessions that were erased on purpose."""
    try:
        lines = (home / "backups" / "erased.jsonl").read_text().splitlines()
    except OSError:
        return set()
    return {row["session"] for row in map(json.loads, filter(str.strip, lines)) if "session" in row}
