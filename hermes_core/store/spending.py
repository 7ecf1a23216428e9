"""What model calls used: booked call by call, added up for limits and for lists."""

import sqlite3
import time
from typing import Any

import attrs

from hermes_core.codec import clean
from hermes_core.database import READ, Transaction
from hermes_core.store.transactions import Stored, owner_number, owner_row, transaction
from hermes_core.types import Principal, Spent, Usage, UsageRow

_FIGURES = [field.name for field in attrs.fields(Usage) if field.name != "priced"]


class Spending(Stored):
    """The half of the store that counts."""

    @transaction(READ)
    def spent(self, tx: Transaction, owner: Principal, *, session_id: str = "", since: float = 0.0) -> Spent:
        """Return what a session of an owner used, or all that their words took since an instant, as booked."""
        where = {"session_id": session_id} if session_id else {"since": since}
        name = "turns_of" if session_id else "spent_since"
        row = tx.row(name, owner=owner_number(tx, owner), now=time.time(), **where)
        known: dict[str, Any] = {name: row[name] or 0 for name in row.keys()} if row else {"seconds": 0.0}  # noqa: SIM118 - no mapping
        return Spent(seconds=known.pop("seconds"), usage=Usage(**known))

    @transaction(READ)
    def people(self, tx: Transaction) -> list[Principal]:
        """Return everybody who ever owned something here, as they came."""
        return [Principal(profile=row["profile"], person=row["person"]) for row in tx.rows("owners_all")]

    @transaction()
    def add(
        self,
        tx: Transaction,
        owner: Principal,
        usage: Usage,
        *,
        task: str = "",
        provider: str = "",
        model: str = "",
        session_id: str = "",
        turn_id: str = "",
        seconds: float = 0.0,
    ) -> None:
        """Book a model call that is no reply of a turn, and add it to its session and turn. ``seconds`` it took."""
        where = {"session_id": session_id, "turn_id": turn_id}
        tx.change("session_usage", id=session_id, **sums(usage))
        tx.change("turn_usage", id=turn_id, **sums(usage))
        book(tx, owner_row(tx, owner), usage, seconds, task=task, provider=provider, model=model, **where)

    @transaction(READ, long=True)
    def usage(self, tx: Transaction, owner: Principal, *, days: int = 30) -> list[UsageRow]:
        """Return what an owner used in the last days, newest day first, by provider, model and task."""
        found: dict[tuple[str, str, str, str], list[sqlite3.Row]] = {}
        for row in tx.rows("usage_by_quarter", owner=owner_number(tx, owner), since=time.time() - days * 86400):
            day = time.strftime("%Y-%m-%d", time.localtime(int(row["quarter"]) * 900))
            found.setdefault((day, row["provider"], row["model"], row["task"]), []).append(row)
        newest = sorted(sorted(found.items()), key=lambda item: item[0][0], reverse=True)
        return [
            UsageRow(
                day=day,
                provider=provider,
                model=model,
                task=task,
                turns=len({row["turn_id"] for row in rows} - {""}),
                usage=Usage(**{name: sum(row[name] for row in rows) for name in _FIGURES}),
                estimated=sum(row["cost"] for row in rows if row["priced"] == "estimated"),
                unpriced=sum(row["calls"] for row in rows if not row["priced"]),
            )
            for (day, provider, model, task), rows in newest
        ]


def sums(usage: Usage) -> dict[str, float]:
    """Return the figures of a usage, which can be added up."""
    return {name: getattr(usage, name) for name in _FIGURES}


def book(tx: Transaction, owner: int, usage: Usage, seconds: float, **where: str) -> None:
    """Write down what one model call used, how long it took, and how its cost is known."""
    values: dict[str, Any] = {name: clean(value) for name, value in where.items()}
    values |= {"priced": usage.priced, **sums(usage)}
    tx.change("model_call_add", owner=owner, created=time.time(), seconds=seconds, **values)
