"""What of a home belongs into a copy, and what stays out: caches, logs, other copies, and secrets unless asked for."""

import os
import stat
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Literal, NamedTuple

__all__ = ["BESIDE", "Entry", "Kind", "entries", "is_beside", "is_database", "is_secret"]

Kind = Literal["database", "file", "folder", "link"]

# At the top of a home, and of each profile in it.
_OUTSIDE = frozenset({"backups", "cache", "logs", ".restore"})
_DATABASES = (".db", ".sqlite", ".sqlite3")
BESIDE = ("-wal", "-shm", "-journal")  # what SQLite keeps beside a database
# Stores that were put aside: each is as large as the one in use.
_ASIDE = ("state.db.before-*", "state.db.damaged-*", "state.db.newer-*", ".state.db.*", ".repair-*", ".moving-*")
_PASSING = (*_ASIDE, "*.lock", "*.pid", "*.sock", "*.draft", "*.part", "__pycache__", ".lock")
_SECRET = (
    ".env", ".env.*", "*.pem", "*.key", "*.p12", "id_rsa*", "id_ed25519*", "auth.json", "*credential*", "*token*",
    "*secret*", "*password*",
)  # fmt: skip
_SECRET_FOLDERS = ("data/tool-vault",)


class Entry(NamedTuple):
    """One thing of a home: its path in it, with slashes, and what it is."""

    path: str
    kind: Kind


def entries(home: Path) -> Iterator[Entry]:
    """All that may belong into a copy of a home, folders before what is in them.

    Sockets, pipes and devices are no content. What git keeps as objects comes last in its folder, so that whatever a
    reference names was there when the reference was read.
    """
    yield from _below(home, "", top=True)


def _below(folder: Path, prefix: str, *, top: bool) -> Iterator[Entry]:
    try:
        found = sorted(os.scandir(folder), key=lambda one: (one.name == "objects", one.name))
    except (FileNotFoundError, NotADirectoryError):
        return  # it went while the home was read
    for one in found:
        path = f"{prefix}{one.name}"
        if (top and one.name in _OUTSIDE) or any(fnmatch(one.name, passing) for passing in _PASSING):
            continue
        try:
            mode = one.stat(follow_symlinks=False).st_mode
        except FileNotFoundError:
            continue
        if stat.S_ISLNK(mode):
            yield Entry(path, "link")
        elif stat.S_ISDIR(mode):
            yield Entry(path, "folder")
            yield from _below(Path(one.path), f"{path}/", top=prefix == "profiles/")
        elif stat.S_ISREG(mode) and not is_beside(one.name):
            yield Entry(path, "database" if one.name.endswith(_DATABASES) else "file")


def is_secret(path: str) -> bool:
    """Whether a path in a home is one that holds secrets by its name."""
    parts = path.split("/")
    inner = "/".join(parts[2:]) if parts[0] == "profiles" else path
    return any(inner == folder or inner.startswith(f"{folder}/") for folder in _SECRET_FOLDERS) or any(
        fnmatch(parts[-1].lower(), secret) for secret in _SECRET
    )


def is_database(path: Path) -> bool:
    """Whether a file is a database of SQLite.

    SQLite itself is asked: to open and close the file in any other way would drop the locks that this process has on it
    (https://www.sqlite.org/howtocorrupt.html, 2.2).
    """
    import sqlite3

    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    except sqlite3.Error:
        return False
    try:
        connection.execute("PRAGMA schema_version").fetchone()
    except sqlite3.DatabaseError as error:
        return error.sqlite_errorname != "SQLITE_NOTADB"  # a damaged one is one
    finally:
        connection.close()
    return True


def is_beside(path: str) -> bool:
    """Whether this is what SQLite keeps beside a database: the copy of the database holds it already."""
    return any(path.endswith(f"{end}{beside}") for end in _DATABASES for beside in BESIDE)
