"""The rows of subscriptions and deliveries. Each method is one transaction."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import sqlalchemy as sa
from attrs import asdict

from hermes_core.codec import clean
from hermes_core.database import READ, StoreBroker, TablesTransaction, made
from hermes_core.errors import Conflict, HermesError, StoreError
from hermes_platform_webhook.values import Delivery, State, Subscription
from hermes_tool_kit.units import unit

__all__ = ["ACCEPTED", "Accepted", "Rows"]

Accepted = Literal["accepted", "known", "full", "changed"]

ACCEPTED = "accepted"  # what is told when there is something to do
_TOGETHER = 100  # deliveries of one commit at most
_BROKE = "The delivery could not be written down."
_WORDS = ("route", "delivery", "digest", "event", "text", "state", "note", "session")


def _table(name: str, *columns: str) -> sa.Table:
    return sa.Table(f"platform_webhook__{name}", sa.MetaData(), *(sa.Column(column) for column in columns))


subscriptions = _table("subscriptions", "name", "person", "told", "created")
deliveries = _table("deliveries", "id", *_WORDS, "tries", "due", "received")

# Those of every delivery that comes in, made once: to make a statement costs more than to run it.
_ONE = sa.select(subscriptions).where(subscriptions.c.name == sa.bindparam("wanted"))
_WRITE = sa.insert(deliveries)


class Rows:
    """What is subscribed to, and what came in."""

    def __init__(self, store: StoreBroker) -> None:
        self.store = store
        self._room: dict[str, int] = {}  # how many more may wait, as far as is known: counted when that is none
        self._coming: list[tuple[Delivery, Subscription, asyncio.Future[Accepted]]] = []  # what is to be written
        self._writing: asyncio.Task[None] | None = None
        self._read_last: dict[str, tuple[Mapping[str, Any], Subscription]] = {}  # each with the row that it was

    @unit(READ)
    def subscription(self, tx: TablesTransaction, name: str) -> Subscription | None:
        """Return one of them, or None. It is the same object again, while its row is the same."""
        return self._one(tx, name)

    def _one(self, tx: TablesTransaction, name: str) -> Subscription | None:
        row = next(iter(tx.execute(_ONE, {"wanted": name})), None)
        if row is None:
            self._read_last.pop(name, None)
            return None
        known = self._read_last.get(name)
        if known is None or known[0] != row:
            known = self._read_last[name] = row, _read(row)
        return known[1]

    @unit(READ)
    def subscribed(self, tx: TablesTransaction) -> Sequence[Subscription]:
        """Return all of them, by name."""
        return [_read(row) for row in tx.execute(sa.select(subscriptions).order_by(subscriptions.c.name))]

    @unit()
    def subscribe(self, tx: TablesTransaction, wanted: Subscription) -> None:
        """Write one, over the one of the same name."""
        told = asdict(wanted, filter=lambda field, _: field.name not in ("name", "person", "created"))
        tx.execute(sa.delete(subscriptions).where(subscriptions.c.name == wanted.name))
        values = {"name": wanted.name, "person": clean(wanted.person), "told": clean(json.dumps(told))}
        tx.execute(sa.insert(subscriptions).values(**values, created=wanted.created or tx.clock()))

    @unit()
    def remove(self, tx: TablesTransaction, name: str) -> bool:
        """Hear a service no longer; whether it was. What waits of it is not done; what came stays known."""
        waiting = sa.update(deliveries).where(deliveries.c.route == name, deliveries.c.state == "waiting")
        tx.execute(waiting.values(state="failed", note="The subscription was removed."))
        return bool(tx.execute(sa.delete(subscriptions).where(subscriptions.c.name == name)).changed)

    async def accept(self, came: Delivery, heard: Subscription, most: int) -> Accepted:
        """Write down that a delivery came in, which nothing has been done about yet; ``most`` may wait.

        ``heard`` is the subscription as it was when the delivery was judged. Where it is another by now, nothing is
        written. What comes while others are written is written together, in one commit after that.
        """
        if self._room.get(came.route, 0) <= 0:
            self._room[came.route] = most - await self._waiting(came.route)
        if self._room[came.route] <= 0:
            return "full"
        self._room[came.route] -= 1
        written: asyncio.Future[Accepted] = asyncio.get_running_loop().create_future()
        self._coming.append((came, heard, written))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write(), name="webhook deliveries")
        return await written

    async def _write(self) -> None:
        while self._coming:
            coming, self._coming = self._coming[:_TOGETHER], self._coming[_TOGETHER:]
            try:
                found = await self._together([(came, heard) for came, heard, _ in coming])
            except BaseException as error:
                for _, _, written in coming:
                    if not written.done():
                        written.set_exception(error if isinstance(error, HermesError) else StoreError(_BROKE))
                if not isinstance(error, HermesError):
                    raise
                continue
            for (_, _, written), became in zip(coming, found, strict=True):
                if not written.done():  # its client may have left: its row is there, whoever waits
                    written.set_result(became)

    async def _together(self, coming: Sequence[tuple[Delivery, Subscription]]) -> Sequence[Accepted]:
        """Write several in one commit, or each alone where one of them was known."""
        try:
            return await self._accept(coming)
        except Conflict:
            if len(coming) == 1:
                return ["known"]
        return [became for one in coming for became in await self._together([one])]

    @unit()
    def _accept(self, tx: TablesTransaction, coming: Sequence[tuple[Delivery, Subscription]]) -> Sequence[Accepted]:
        now, there, found = tx.clock(), dict[str, Subscription | None](), list[Accepted]()
        rows: list[dict[str, Any]] = []
        for came, heard in coming:
            if came.route not in there:
                there[came.route] = self._one(tx, came.route)
            found.append("accepted" if there[came.route] is heard or there[came.route] == heard else "changed")
            if found[-1] == "accepted":
                said = {name: clean(getattr(came, name)) for name in _WORDS}
                rows.append({**said, "tries": came.tries, "received": now, "due": now})
        if rows:
            tx.execute(_WRITE, rows)
            tx.tell(ACCEPTED)
        return found

    @unit(READ)
    def _waiting(self, tx: TablesTransaction, route: str) -> int:
        waiting = (deliveries.c.state == "waiting", deliveries.c.route == route)
        return int(tx.execute(sa.select(sa.func.count().label("many")).where(*waiting))[0]["many"])

    @unit(READ)
    def routes_due(self, tx: TablesTransaction) -> Sequence[str]:
        """Return of which subscriptions something is to be done now."""
        due = sa.and_(deliveries.c.state == "waiting", deliveries.c.due <= tx.clock())
        return [row["route"] for row in tx.execute(sa.select(deliveries.c.route).where(due).distinct())]

    @unit(READ)
    def due(self, tx: TablesTransaction, route: str, most: int) -> Sequence[Delivery]:
        """Return what is to be done now of a subscription, what is due longest first: as it lies in the index."""
        due = (deliveries.c.state == "waiting", deliveries.c.route == route, deliveries.c.due <= tx.clock())
        wanted = sa.select(deliveries).where(*due).order_by(deliveries.c.due, deliveries.c.id).limit(most)
        return [made(Delivery, row) for row in tx.execute(wanted)]

    @unit()
    def settle(self, tx: TablesTransaction, number: int, state: State, *, session: str = "", note: str = "") -> None:
        """Say what became of one. What is told of it is kept only where that can still be done."""
        values: dict[str, Any] = {"state": state, "note": clean(note)[:500]}
        values |= {"session": session, "text": ""} if state == "done" else {}
        tx.execute(sa.update(deliveries).where(deliveries.c.id == number).values(**values))

    @unit()
    def later(self, tx: TablesTransaction, came: Delivery, seconds: float, note: str) -> None:
        """Try one again, so many seconds from now."""
        values: dict[str, Any] = {"tries": came.tries + 1, "due": tx.clock() + seconds, "note": clean(note)[:500]}
        tx.execute(sa.update(deliveries).where(deliveries.c.id == came.id).values(**values))

    @unit()
    def again(self, tx: TablesTransaction, number: int) -> bool:
        """Let one that failed wait again; False where there is none."""
        tx.tell(ACCEPTED)
        failed = sa.update(deliveries).where(deliveries.c.id == number, deliveries.c.state == "failed")
        return bool(tx.execute(failed.values(state="waiting", tries=0, due=tx.clock())).changed)

    @unit(READ)
    def log(self, tx: TablesTransaction, route: str = "", state: str = "", most: int = 50) -> Sequence[Delivery]:
        """Return what came in, newest first; of one subscription, or in one state."""
        wanted = sa.select(deliveries).order_by(deliveries.c.id.desc()).limit(most)
        wanted = wanted.where(deliveries.c.route == route) if route else wanted
        wanted = wanted.where(deliveries.c.state == state) if state else wanted
        return [made(Delivery, row) for row in tx.execute(wanted)]

    @unit(READ)
    def counts(self, tx: TablesTransaction) -> dict[str, int]:
        """Return how many there are in each state."""
        counted = sa.select(deliveries.c.state, sa.func.count().label("many")).group_by(deliveries.c.state)
        return {row["state"]: row["many"] for row in tx.execute(counted)}

    @unit()
    def forget(self, tx: TablesTransaction, seconds: float) -> int:
        """Forget what came in longer ago than that, and is settled; how many there were."""
        old = sa.and_(deliveries.c.received < tx.clock() - seconds, deliveries.c.state != "waiting")
        return tx.execute(sa.delete(deliveries).where(old)).changed


def _read(row: Any) -> Subscription:
    told: dict[str, Any] = json.loads(row["told"])
    return made(Subscription, row, **told)
