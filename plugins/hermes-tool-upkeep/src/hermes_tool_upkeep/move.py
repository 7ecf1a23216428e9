"""Copy a store to another address: a file to a server, or a server to a file, compared row by row.

It goes table by table, and each row is put where it is not yet as it should be. So a copy that was cut off is taken up
where it was, and a second pass over everything that finds nothing to do is the proof.
"""

import json
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import sqlalchemy as sa

from hermes_core.codec import searchable, stored
from hermes_core.errors import UserError
from hermes_fulltext.words import cut_words, index_words
from hermes_tool_upkeep.index import search_again
from hermes_tool_upkeep.rows import connected, created, key_of, tables_of

__all__ = ["Moved", "copy", "in_use"]

_AT_ONCE = 200  # rows; keys of so many fit into one statement
_PLUGIN, _NOTE = "tool/upkeep", "moving"
_VERSION = "alembic_version"
_PLUGINS_VERSION = "__version"  # the table of a plugin that says how far its tables are: made as they are looked at


class Moved(NamedTuple):
    """What was copied: rows by table, and how many of them were there from an earlier try."""

    rows: Mapping[str, int]
    before: int


def in_use(connection: sa.Connection) -> int:
    """Count who else is connected to the store of a server."""
    if connection.dialect.name == "sqlite":
        return 0
    others = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'hermes'"
    return int(connection.scalar(sa.text(others)) or 0)


def copy(source: str | Path, target: str | Path, seen: Callable[[str, int], None] = lambda table, rows: None) -> Moved:
    """Copy all rows to a store at head that is empty, or where an earlier try ended.

    ``seen`` is told of each table and how many rows of it are done. Raises UserError when the target holds something
    else, and when what is there in the end is not the same.
    """
    with connected(source) as here, connected(target, writes=True) as there:
        if others := in_use(here) + in_use(there):
            hint = "End them on all machines; gateways with: hermes gateway stop."
            raise UserError(f"{others} programs work with the store.", hint=hint)
        copying = _Copying(here, there, seen)
        copying.begin()
        copying.all()
        _search(there)
        changed = copying.changed
        copying.changed = 0
        copying.all()
        if copying.changed:
            raise UserError("Somebody wrote into one of the stores meanwhile.", hint="End that, and do it again.")
        copying.end()
        rows = copying.rows
    if isinstance(target, Path):
        with closing(sqlite3.connect(target, isolation_level=None)) as file:
            search_again(file)
            file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return Moved(rows, sum(rows.values()) - changed)


class _Copying:
    """One copy from ``here`` to ``there``. ``changed`` counts the rows that had to be written or dropped."""

    def __init__(self, here: sa.Connection, there: sa.Connection, seen: Callable[[str, int], None]) -> None:
        self._here, self._there, self._seen = here, there, seen
        self._from = {table.name: table for table in tables_of(here)}
        self._to = {table.name: table for table in tables_of(there)}
        self.rows: dict[str, int] = {}
        self.changed = 0

    def begin(self) -> None:
        """Make sure both are of one release and the target is free, note that a copy began, and make what it lacks."""
        for side, tables in (("source", self._from), ("target", self._to)):
            if _VERSION not in tables:
                raise UserError(f"The {side} is no store of Hermes.")
        versions = [
            connection.scalars(sa.select(tables[_VERSION].c.version_num)).all()
            for connection, tables in ((self._here, self._from), (self._there, self._to))
        ]
        if versions[0] != versions[1]:
            raise UserError("The store is of an older release.", hint="Open it once: hermes doctor; then move it.")
        if not self._noted():
            own = (name for name in self._to if name != _VERSION and not name.endswith(_PLUGINS_VERSION))
            if held := next(filter(self._any, own), ""):
                raise UserError(f"The target is not empty: there are rows in {held}.", hint="Name another database.")
            note = {"plugin": _PLUGIN, "owner": 0, "session_id": "", "name": _NOTE, "version": 1}
            values = {**note, "body": json.dumps({"begun": time.time()}), "updated": time.time()}
            self._there.execute(sa.insert(self._to["documents"]).values(values))
        for name, table in self._from.items():
            if name not in self._to:
                self._to[name] = created(self._there, table)
        self._there.commit()

    def all(self) -> None:
        """Make every table like the one it comes from."""
        for name, table in self._from.items():
            if name != _VERSION:
                self._table(table, self._to[name])
                self._there.commit()

    def end(self) -> None:
        """Number what is added from now on behind what is there, and drop the note."""
        if self._there.dialect.name != "sqlite":
            for table in self._to.values():
                for column in table.primary_key.columns:
                    if isinstance(column.type, sa.Integer):
                        self._there.execute(sa.text(_NUMBERED.format(table=table.name, column=column.name)))
        documents = self._to["documents"]
        self._there.execute(sa.delete(documents).where(_noted(documents)))
        self._there.commit()

    def _table(self, source: sa.Table, target: sa.Table) -> None:
        key, count = [column.name for column in key_of(source)], 0
        names = [column.name for column in source.columns]
        found = self._here.execution_options(yield_per=_AT_ONCE).execute(sa.select(source))
        for rows in found.mappings().partitions():
            wanted = {tuple(row[name] for name in key): {name: row[name] for name in names} for row in rows}
            self._rows(target, key, wanted)
            count += len(wanted)
            self._seen(source.name, count)
        self.rows[source.name] = count
        others = sa.true() if target.name != "documents" else sa.not_(_noted(target))
        if self._there.scalar(sa.select(sa.func.count()).select_from(target).where(others)) != count:
            self._drop_others(source, target, key, others)

    def _rows(self, target: sa.Table, key: Sequence[str], wanted: Mapping[tuple[Any, ...], Mapping[str, Any]]) -> None:
        among = _among(target, key, wanted)
        there = {
            tuple(row[name] for name in key): dict(row)
            for row in self._there.execute(sa.select(target).where(among)).mappings()
        }
        behind = [at for at, row in wanted.items() if there.get(at) != row]
        if not behind:
            return
        if stale := [at for at in behind if at in there]:
            self._there.execute(sa.delete(target).where(_among(target, key, stale)))
        self._there.execute(sa.insert(target), [dict(wanted[at]) for at in behind])
        self._there.commit()
        self.changed += len(behind)

    def _drop_others(self, source: sa.Table, target: sa.Table, key: Sequence[str], where: Any) -> None:
        """Take out of the target what the source has no more, since an earlier try."""
        columns = [target.c[name] for name in key]
        keys = [tuple(row) for row in self._there.execute(sa.select(*columns).where(where))]
        for start in range(0, len(keys), _AT_ONCE):
            some = keys[start : start + _AT_ONCE]
            kept = self._here.execute(sa.select(*(source.c[n] for n in key)).where(_among(source, key, some)))
            if gone := set(some) - {tuple(row) for row in kept}:
                self._there.execute(sa.delete(target).where(_among(target, key, list(gone))))
                self.changed += len(gone)

    def _any(self, name: str) -> bool:
        return self._there.execute(sa.select(sa.literal(1)).select_from(self._to[name]).limit(1)).first() is not None

    def _noted(self) -> bool:
        documents = self._to["documents"]
        return self._there.execute(sa.select(documents.c.name).where(_noted(documents))).first() is not None


_NUMBERED = (
    "SELECT setval(s, greatest((SELECT coalesce(max({column}), 0) FROM {table}), 1)) FROM"
    " (SELECT pg_get_serial_sequence('{table}', '{column}') AS s) AS one WHERE s IS NOT NULL"
)


def _noted(documents: sa.Table) -> sa.ColumnElement[bool]:
    return sa.and_(documents.c.plugin == _PLUGIN, documents.c.name == _NOTE)


def _among(table: sa.Table, key: Sequence[str], keys: Any) -> sa.ColumnElement[bool]:
    if len(key) == 1:
        return table.c[key[0]].in_([at[0] for at in keys])
    return sa.tuple_(*(table.c[name] for name in key)).in_(list(keys))


def _search(there: sa.Connection) -> None:
    """Make the words of a server's search index anew; that of a file is made when it is closed."""
    if there.dialect.name == "sqlite":
        return
    metadata = sa.MetaData()
    messages, search = (sa.Table(name, metadata, autoload_with=there) for name in ("messages", "search"))
    there.execute(sa.delete(search))
    last = 0
    while True:
        wanted = sa.select(messages.c.id, messages.c.owner, messages.c.body).where(messages.c.id > last)
        rows = there.execute(wanted.order_by(messages.c.id).limit(_AT_ONCE)).all()
        if not rows:
            break
        found = ((number, owner, searchable(stored(body).parts)) for number, owner, body in rows)
        words = [{"rowid": number, "words": cut_words(index_words(text, owner))} for number, owner, text in found]
        there.execute(sa.insert(search), words)
        last = rows[-1][0]
    there.commit()
