"""The rows of what is watched and what changed. Each method is one transaction."""

import json
from collections.abc import Collection, Sequence
from typing import Any

import sqlalchemy as sa
from attrs import asdict

from hermes_core.codec import clean
from hermes_core.database import READ, StoreBroker, TablesTransaction, made
from hermes_tool_kit.units import unit
from hermes_tool_watch.values import Change, Watch

__all__ = ["NEWS", "Rows"]

NEWS = "news"  # what is told when something is to be watched that was not
_OWN = ("name", "seen", "number", "due", "note", "created")  # columns; the rest of a watch is told as JSON


def _table(name: str, *columns: str) -> sa.Table:
    return sa.Table(f"tool_watch__{name}", sa.MetaData(), *(sa.Column(column) for column in columns))


watches = _table("watches", "told", *_OWN)
changes = _table("changes", "id", "watch", "event", "text", "state", "session", "note", "tries", "due", "created")


class Rows:
    """What is watched, and what changed."""

    def __init__(self, store: StoreBroker) -> None:
        self.store = store

    @unit(READ)
    def watch(self, tx: TablesTransaction, name: str) -> Watch | None:
        """Return one, or None."""
        return next(map(_read, tx.execute(sa.select(watches).where(watches.c.name == name))), None)

    @unit(READ)
    def watched(self, tx: TablesTransaction) -> Sequence[Watch]:
        """Return all, by name."""
        return [_read(row) for row in tx.execute(sa.select(watches).order_by(watches.c.name))]

    @unit(READ)
    def to_look_at(self, tx: TablesTransaction, also: Collection[str]) -> Sequence[Watch]:
        """Return those that are to be looked at now, and some also that something says of that it stirs."""
        wanted = sa.or_(watches.c.due <= tx.clock(), watches.c.name.in_(also))
        return [_read(row) for row in tx.execute(sa.select(watches).where(wanted).order_by(watches.c.name))]

    @unit()
    def put(self, tx: TablesTransaction, wanted: Watch) -> None:
        """Write one, over the one of the same name. What was seen of it stays where that is still what is watched."""
        before = next(map(_read, tx.execute(sa.select(watches).where(watches.c.name == wanted.name))), None)
        same = before is not None and (before.kind, before.what, before.globs) == (
            wanted.kind,
            wanted.what,
            list(wanted.globs),
        )
        values: dict[str, Any] = {"name": wanted.name, "told": _told(wanted), "note": "", "due": 0.0}
        values |= {"seen": before.seen if before and same else "", "number": before.number if before else 0}
        tx.execute(sa.delete(watches).where(watches.c.name == wanted.name))
        tx.execute(sa.insert(watches).values(**values, created=before.created if before else tx.clock()))
        tx.tell(NEWS)

    @unit()
    def remove(self, tx: TablesTransaction, name: str) -> None:
        """Watch something no longer; what changed and waits is not told."""
        waiting = sa.update(changes).where(changes.c.watch == name, changes.c.state == "waiting")
        tx.execute(waiting.values(state="failed", note="It is watched no longer."))
        tx.execute(sa.delete(watches).where(watches.c.name == name))
        tx.tell(NEWS)

    @unit()
    def looked(self, tx: TablesTransaction, one: Watch, seen: str, text: str, *, note: str = "") -> bool:
        """Write down what was seen, and with it, in the same commit, what changed if there is ``text``.

        False where another was faster, or what is watched is another thing by now: then nothing was written.
        """
        mine = sa.and_(watches.c.name == one.name, watches.c.number == one.number, watches.c.told == _told(one))
        values = {"seen": clean(seen), "due": tx.clock() + one.every, "note": clean(note)[:500]}
        values |= {"number": one.number + 1} if text else {}
        if tx.execute(sa.update(watches).where(mine).values(**values)).changed != 1:
            return False
        if text:
            event = f"{one.name} {one.created:.6f} {one.number + 1}"
            row = {"watch": one.name, "event": event, "text": clean(text), "state": "waiting"}
            tx.execute(sa.insert(changes).values(**row, due=tx.clock(), created=tx.clock()))
        return True

    @unit(READ)
    def today(self, tx: TablesTransaction, name: str) -> int:
        """Return how many changes of one there were in the last 24 hours."""
        lately = sa.and_(changes.c.watch == name, changes.c.created > tx.clock() - 86_400)
        return int(tx.execute(sa.select(sa.func.count().label("many")).where(lately))[0]["many"])

    @unit(READ)
    def due(self, tx: TablesTransaction) -> Sequence[Change]:
        """Return the changes whose turns are to be ordered now, oldest first."""
        wanted = sa.select(changes).where(changes.c.state == "waiting", changes.c.due <= tx.clock())
        return [made(Change, row) for row in tx.execute(wanted.order_by(changes.c.id).limit(50))]

    @unit()
    def settle(self, tx: TablesTransaction, number: int, state: str, *, session: str = "", note: str = "") -> None:
        """Say what became of a change."""
        values: dict[str, Any] = {"state": state, "note": clean(note)[:500], "session": session, "text": ""}
        tx.execute(sa.update(changes).where(changes.c.id == number).values(**values))

    @unit()
    def later(self, tx: TablesTransaction, one: Change, seconds: float, note: str) -> None:
        """Try one again, so many seconds from now."""
        values: dict[str, Any] = {"tries": one.tries + 1, "due": tx.clock() + seconds, "note": clean(note)[:500]}
        tx.execute(sa.update(changes).where(changes.c.id == one.id).values(**values))

    @unit(READ)
    def log(self, tx: TablesTransaction, name: str = "", most: int = 50) -> Sequence[Change]:
        """Return what changed, newest first."""
        wanted = sa.select(changes).order_by(changes.c.id.desc()).limit(most)
        return [made(Change, row) for row in tx.execute(wanted.where(changes.c.watch == name) if name else wanted)]

    @unit()
    def forget(self, tx: TablesTransaction, seconds: float) -> int:
        """Forget changes of longer ago than that, whose turns were ordered or given up."""
        old = sa.and_(changes.c.created < tx.clock() - seconds, changes.c.state != "waiting")
        return tx.execute(sa.delete(changes).where(old)).changed


def _told(one: Watch) -> str:
    return clean(json.dumps(asdict(one, filter=lambda field, _: field.name not in _OWN)))


def _read(row: Any) -> Watch:
    told: dict[str, Any] = json.loads(row["told"])
    return made(Watch, row, **told)
