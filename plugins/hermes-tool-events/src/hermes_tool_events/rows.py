"""The rows of what is to be told. Each method is one transaction."""

from collections.abc import Callable, Sequence
from typing import Any

import sqlalchemy as sa

from hermes_core.codec import clean
from hermes_core.database import READ, StoreBroker, TablesTransaction, made
from hermes_tool_events.values import Begun, Told
from hermes_tool_kit.units import unit

__all__ = ["NEWS", "Rows"]

NEWS = "news"  # what is told when there is something to do


def _table(name: str, *columns: str) -> sa.Table:
    return sa.Table(f"tool_events__{name}", sa.MetaData(), *(sa.Column(column) for column in columns))


begun = _table("begun", "turn", "session", "origin", "person", "over", "since")
told = _table("told", "id", "event", "target", "name", "body", "state", "note", "person", "tries", "due", "created")


class Rows:
    """What happened, and what is told of it."""

    def __init__(self, store: StoreBroker) -> None:
        self.store = store

    @unit()
    def begun(self, tx: TablesTransaction, turn: str, session: str, origin: str, person: str) -> None:
        """Write down that a turn is to be told of when it is over; one that is taken up again is there already."""
        if not tx.execute(sa.select(begun.c.turn).where(begun.c.turn == turn)):
            values = {"turn": turn, "session": session, "origin": clean(origin), "person": clean(person)}
            tx.execute(sa.insert(begun).values(**values, over=0, since=tx.clock()))

    @unit()
    def over(self, tx: TablesTransaction, turn: str) -> None:
        """Say that a turn is over."""
        tx.execute(sa.update(begun).where(begun.c.turn == turn).values(over=1))
        tx.tell(NEWS)

    @unit(READ)
    def unsettled(self, tx: TablesTransaction, older: float = 0.0) -> Sequence[Begun]:
        """Return the turns that are over; with ``older`` those, too, that began so many seconds ago or more."""
        wanted = begun.c.over == 1
        wanted = sa.or_(wanted, begun.c.since <= tx.clock() - older) if older else wanted
        return [made(Begun, row) for row in tx.execute(sa.select(begun).where(wanted).limit(200))]

    async def settle(self, turn: str, wanted: Sequence[Told], person: str = "") -> None:
        """Write down what is to be told of a turn, or of something else, in the place of its row.

        What is there already stays as it is: each target is told of each event once.
        """
        await self.store.transact(self.settling(turn, wanted, person))

    def settling(self, turn: str, wanted: Sequence[Told], person: str) -> Callable[[TablesTransaction], None]:
        """Return the unit of work that does so."""

        def settle(tx: TablesTransaction) -> None:
            for one in wanted:
                known = sa.select(told.c.id).where(told.c.event == one.event, told.c.target == one.target)
                if not tx.execute(known):
                    values: dict[str, Any] = {"event": one.event, "target": one.target, "name": one.name}
                    values |= {"body": clean(one.body), "state": "waiting", "person": clean(person)}
                    tx.execute(sa.insert(told).values(**values, due=tx.clock(), created=tx.clock()))
                    tx.tell(NEWS)
            tx.execute(sa.delete(begun).where(begun.c.turn == turn))

        return settle

    @unit(READ)
    def now(self, tx: TablesTransaction) -> float:
        """Return the time on the store's clock."""
        return tx.clock()

    @unit(READ)
    def known(self, tx: TablesTransaction, events: Sequence[str]) -> set[str]:
        """Return which of these events are written down."""
        return {row["event"] for row in tx.execute(sa.select(told.c.event).where(told.c.event.in_(events)))}

    @unit(READ)
    def due(self, tx: TablesTransaction, most: int = 20) -> Sequence[Told]:
        """Return what is to be told now, oldest first."""
        wanted = sa.select(told).where(told.c.state == "waiting", told.c.due <= tx.clock())
        return [made(Told, row) for row in tx.execute(wanted.order_by(told.c.due, told.c.id).limit(most))]

    @unit()
    def done(self, tx: TablesTransaction, number: int) -> None:
        """Say that it was told."""
        tx.execute(sa.update(told).where(told.c.id == number).values(state="done", note="", tries=told.c.tries + 1))

    @unit()
    def held(self, tx: TablesTransaction, number: int, until: float) -> None:
        """Let one wait until quiet hours end, which is no failure."""
        tx.execute(sa.update(told).where(told.c.id == number).values(due=until, note="held for quiet hours"))

    @unit()
    def failed(self, tx: TablesTransaction, number: int, note: str, seconds: float | None) -> None:
        """Say why it could not be told, and when it is tried again; None: no more."""
        values: dict[str, Any] = {"note": clean(note)[:500], "tries": told.c.tries + 1}
        values |= {"state": "dead"} if seconds is None else {"due": tx.clock() + seconds}
        tx.execute(sa.update(told).where(told.c.id == number).values(**values))

    @unit()
    def again(self, tx: TablesTransaction, number: int = 0) -> int:
        """Try one of the dead again, or all; how many."""
        dead = sa.update(told).where(told.c.state == "dead")
        dead = dead.where(told.c.id == number) if number else dead
        tx.tell(NEWS)
        return tx.execute(dead.values(state="waiting", tries=0, due=tx.clock())).changed

    @unit(READ)
    def log(self, tx: TablesTransaction, state: str = "", most: int = 50) -> Sequence[Told]:
        """Return what was to be told, newest first."""
        wanted = sa.select(told).order_by(told.c.id.desc()).limit(most)
        return [made(Told, row) for row in tx.execute(wanted.where(told.c.state == state) if state else wanted)]

    @unit(READ)
    def counts(self, tx: TablesTransaction) -> dict[str, int]:
        """Return how many there are in each state."""
        counted = sa.select(told.c.state, sa.func.count().label("many")).group_by(told.c.state)
        return {row["state"]: row["many"] for row in tx.execute(counted)}

    @unit()
    def forget(self, tx: TablesTransaction, seconds: float) -> int:
        """Forget what was told, or given up, longer ago than that."""
        old = sa.and_(told.c.created < tx.clock() - seconds, told.c.state != "waiting")
        return tx.execute(sa.delete(told).where(old)).changed
