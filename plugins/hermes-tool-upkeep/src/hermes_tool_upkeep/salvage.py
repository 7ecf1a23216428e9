"""Make a whole store of one that is damaged: each row that can be read, in a new file, which then takes its place."""

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

from hermes_core.codec import dumps, message_to_json, stored
from hermes_core.errors import UserError
from hermes_tool_upkeep.index import search_again
from hermes_tool_upkeep.look import readable, users_of
from hermes_tool_upkeep.shape import LEAF, Leaf, Pages, Value, mended_head

__all__ = ["Saved", "fresh", "put", "repair"]

_SESSION = (
    "INSERT INTO sessions (id, owner, origin, updated, last, messages) SELECT session_id, owner, 'cli', max(created),"
    " max(id), count(*) FROM messages WHERE session_id NOT IN (SELECT id FROM sessions) GROUP BY session_id"
)
_OWNER = (
    "INSERT OR IGNORE INTO owners (id, profile, person) SELECT owner, 'default', CASE owner WHEN 1 THEN 'owner' ELSE"
    " 'lost-' || owner END FROM {table} WHERE owner NOT IN (SELECT id FROM owners) AND owner > 0"
)


class Saved(NamedTuple):
    """What was kept: rows by table, how many rows of damaged pages were not whole, and where the old file is."""

    rows: Mapping[str, int]
    lost: int
    old: Path


class _Column(NamedTuple):
    name: str
    kind: str
    needed: bool
    number: bool  # it is the row's own number


def repair(path: Path) -> Saved:
    """Put a new file with all that can be read in the place of a damaged one, which stays beside it.

    Raises UserError when somebody has it open, and when nothing in it can be read.
    """
    if busy := users_of(path):
        raise UserError(f"Somebody works in {path}: {', '.join(busy)}.", hint="End it; hermes gateway stop.")
    with tempfile.TemporaryDirectory(prefix=".repair-", dir=path.parent) as folder:
        work, new = Path(folder) / "old.db", Path(folder) / "home" / "state.db"
        _copied(path, work)
        fresh(new.parent)
        rows, lost = _filled(Pages(work), new)
        if not sum(rows.get(name, 0) for name in ("messages", "sessions", "owners")):
            hint = "Bring a copy back: hermes backup restore; or what transcripts have: hermes store rebuild."
            raise UserError(f"Nothing of {path} can be read. It stays as it is.", hint=hint)
        old = put(new, path, "damaged")
    return Saved(rows, lost, old)


def fresh(home: Path, *settings: str) -> None:
    """Make an empty home whose store is at head, as this release makes one. Raises UserError."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    if settings:
        (home / "config.yaml").write_text("\n".join(settings))
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HERMES_")}
    command = [sys.executable, "-P", "-m", "hermes_core", "doctor", "--json"]
    done = subprocess.run(command, env={**kept, "HERMES_HOME": str(home)}, capture_output=True, text=True, check=False)
    if not settings and not (home / "state.db").exists():
        raise UserError(f"No new store could be made in {home}: {done.stderr.strip()[-200:]}.")


def _copied(path: Path, work: Path) -> None:
    """Copy a store with its log, which is then written into the copy, as far as it can be read."""
    shutil.copyfile(path, work)
    log = path.with_name(f"{path.name}-wal")
    if log.exists():
        shutil.copyfile(log, work.with_name(f"{work.name}-wal"))
    mended_head(work)
    with suppress(sqlite3.Error, UnicodeDecodeError), closing(sqlite3.connect(work)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _filled(pages: Pages, new: Path) -> tuple[Mapping[str, int], int]:
    with closing(sqlite3.connect(new)) as target:
        [(head,)] = target.execute("SELECT version_num FROM alembic_version").fetchall()
    schema = _schema(pages)
    version = _version(pages, schema)
    if version not in ("", head):  # an older release's, which is migrated when it is opened
        new.unlink()
        head = version
    with closing(sqlite3.connect(new, isolation_level=None)) as target:
        target.execute("PRAGMA foreign_keys=OFF")
        target.execute("BEGIN IMMEDIATE")
        filling = _Filling(pages, schema, target)
        filling.fill(head)
        _tied(target)
        target.execute("COMMIT")
        search_again(target)
        wrong = [row[0] for row in target.execute("PRAGMA integrity_check(3)")]
        if wrong != ["ok"]:
            raise UserError(f"The new store is not sound: {'; '.join(wrong)}. The old one stays as it is.")
        target.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        target.execute("PRAGMA journal_mode=DELETE")
    return filling.rows, filling.lost


class _Thing(NamedTuple):
    kind: str
    root: int  # its first page
    sql: str


class _Filling:
    """Rows on their way from pages into a new store."""

    def __init__(self, pages: Pages, schema: Mapping[str, _Thing], target: sqlite3.Connection) -> None:
        self._pages, self._schema, self._target = pages, schema, target
        self.rows: dict[str, int] = {}
        self.lost = 0
        self._made()
        names = [row[0] for row in target.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        self._tables = {name: _columns(target, name) for name in names if not name.startswith(("search", "sqlite_"))}

    def _made(self) -> None:
        """Make what is not a table of this release: those of plugins, or of an older one."""
        there = {row[0] for row in self._target.execute("SELECT name FROM sqlite_master")}
        for kind in ("table", "index"):
            for name, (made, _, sql) in self._schema.items():
                if made == kind and name not in there and sql and not name.startswith(("search_", "sqlite_")):
                    # Where its text is damaged, a plugin's migrations will say so.
                    with suppress(sqlite3.Error, UnicodeDecodeError):
                        self._target.execute(sql)

    def fill(self, version: str) -> None:
        """Take the rows of each table's tree, then those of pages that no tree leads to any more."""
        reached = set[int]()
        for name, columns in self._tables.items():  # but which release's tables these are is known
            found = self._pages.below(self._schema[name].root) if name in self._schema else set[int]()
            reached |= found
            for number in sorted(found):
                if name != "alembic_version":
                    self._take(number, [(name, columns)])
        apart = reached | self._pages.free() | self._of_indexes()
        for number in range(2, self._pages.count + 1):
            if number not in apart and self._pages.kind(number) == LEAF:
                self._take(number, list(self._tables.items()))
        self._target.execute("DELETE FROM alembic_version")
        self._target.execute("INSERT INTO alembic_version VALUES (?)", (version,))

    def _of_indexes(self) -> set[int]:
        """Return the pages of the search index."""
        roots = [
            root for name, (kind, root, _) in self._schema.items() if name.startswith("search") and kind == "table"
        ]
        return set().union(*(self._pages.below(root) for root in roots if root > 1))

    def _take(self, page: int, tables: Sequence[tuple[str, Sequence[_Column]]]) -> None:
        said, kept = self._pages.said(page), 0
        for leaf in self._pages.rows(page):
            for name, columns in tables:
                if _fits(leaf, columns) and self._put(name, columns, leaf):
                    kept += 1
                    break
        if len(tables) == 1:
            self.lost += max(0, said - kept)

    def _put(self, table: str, columns: Sequence[_Column], leaf: Leaf) -> bool:
        known = [column.name for column in columns[: len(leaf.values)]]
        values = [
            leaf.number if column.number and value is None else value
            for column, value in zip(columns, leaf.values, strict=False)
        ]
        if not any(column.number for column in columns):
            known, values = ["rowid", *known], [leaf.number, *values]
        if table == "messages":
            values = [self._said(name, value) for name, value in zip(known, values, strict=True)]
        sql = f'INSERT OR IGNORE INTO "{table}" ({", ".join(known)}) VALUES ({", ".join("?" * len(known))})'  # noqa: S608
        try:
            done = self._target.execute(sql, values)
        except (sqlite3.Error, OverflowError):
            return False
        self.rows[table] = self.rows.get(table, 0) + done.rowcount
        return bool(done.rowcount)

    def _said(self, column: str, value: Value) -> Value:
        """The body of a message; that it was there, where it cannot be read."""
        if column != "body" or not isinstance(value, str) or readable(value):
            return value
        self.lost += 1
        return dumps(message_to_json(stored(value)))


def _version(pages: Pages, schema: Mapping[str, _Thing]) -> str:
    """Read which release's tables these are; empty where that cannot be read."""
    root = schema["alembic_version"].root if "alembic_version" in schema else 0
    said = [leaf.values[0] for page in pages.below(root) for leaf in pages.rows(page) if len(leaf.values) == 1]
    return said[0] if len(said) == 1 and isinstance(said[0], str) and said[0].isdigit() else ""


def _schema(pages: Pages) -> dict[str, _Thing]:
    """Read what there is: the kind, first page and text of each thing by name."""
    found = {}
    for page in pages.below(1):
        for leaf in pages.rows(page):
            if len(leaf.values) == 5:
                kind, name, _, root, sql = leaf.values
                if isinstance(kind, str) and isinstance(name, str) and isinstance(root, int):
                    found[name] = _Thing(kind, root, sql if isinstance(sql, str) else "")
    return found


def _columns(connection: sqlite3.Connection, table: str) -> Sequence[_Column]:
    rows = connection.execute(f'PRAGMA table_info("{table}")').fetchall()
    alone = sum(bool(row[5]) for row in rows) == 1
    return [
        _Column(name, kind.upper(), bool(needed), bool(key) and alone and kind.upper() == "INTEGER")
        for _, name, kind, needed, _, key in rows
    ]


def _fits(leaf: Leaf, columns: Sequence[_Column]) -> bool:
    """Tell whether a row can be one of a table: it has no more columns, and each is of its kind."""
    return len(leaf.values) <= len(columns) and all(
        _of_kind(value, column) for value, column in zip(leaf.values, columns, strict=False)
    )


def _of_kind(value: Value, column: _Column) -> bool:
    if value is None:
        return column.number or not column.needed
    if column.number:  # SQLite keeps it as the row's number, and nothing here
        return False
    if "INT" in column.kind:
        return isinstance(value, int)
    if any(word in column.kind for word in ("FLOA", "REAL", "DOUB")):
        return isinstance(value, int | float)
    if any(word in column.kind for word in ("TEXT", "CHAR", "CLOB")):
        return isinstance(value, str)
    return True


def _tied(target: sqlite3.Connection) -> None:
    """Give what belongs to a lost row one again, or let go of it where it says nothing by itself."""
    for table in ("messages", "sessions"):
        target.execute(_OWNER.format(table=table))
    target.execute(_SESSION)
    while wrong := target.execute("PRAGMA foreign_key_check").fetchall():
        for table, row, _, _ in wrong:
            target.execute(f'DELETE FROM "{table}" WHERE rowid = ?', (row,))  # noqa: S608 - a name of the schema's


def put(new: Path, path: Path, why: str) -> Path:
    """Let a file take the place of a store, which stays beside it under a name that says ``why``: where it is then."""
    old = path.with_name(f"{path.name}.{why}-{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}")
    for end in ("", "-wal"):
        source = path.with_name(f"{path.name}{end}")
        if source.exists():
            old.with_name(f"{old.name}{end}").unlink(missing_ok=True)
            os.link(source, old.with_name(f"{old.name}{end}"))
    _sync(path.parent)
    new.chmod(path.stat().st_mode & 0o777)
    _sync(new)
    for end in ("-wal", "-shm"):  # of the old one; it lies beside its copy, and would be taken for the new one's
        path.with_name(f"{path.name}{end}").unlink(missing_ok=True)
    new.replace(path)
    _sync(path.parent)
    return old


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
