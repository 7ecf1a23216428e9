"""Who is not heard, for a while or until somebody takes it back. Looked at before anything is spent on a message."""

from collections.abc import Iterable, Sequence

import sqlalchemy as sa

from hermes_core.codec import clean
from hermes_core.database import READ, TablesTransaction, made
from hermes_platform_gateway.rows.tables import Part, equal, put, restrictions, unit
from hermes_platform_gateway.rows.values import Restriction

__all__ = ["Restrictions", "restriction_of"]


class Restrictions(Part):
    """The rows of who is blocked or muted."""

    @unit(READ)
    def of(self, tx: TablesTransaction, *subjects: str, now: float | None = None) -> Restriction | None:
        """What holds now for any of these names: a block before a mute, and the longest of several mutes."""
        return restriction_of(tx, subjects, now)

    @unit(READ)
    def blocked(self, tx: TablesTransaction) -> list[str]:
        """The names that are blocked now."""
        now, rows = tx.clock(), tx.execute(sa.select(restrictions).where(restrictions.c.kind == "block"))
        return [row["subject"] for row in rows if not row["until"] or row["until"] > now]

    @unit(READ)
    def all(self, tx: TablesTransaction, *, now: float | None = None) -> list[Restriction]:
        """Everything that holds now."""
        now = tx.clock() if now is None else now
        rows = tx.execute(sa.select(restrictions).order_by(restrictions.c.since, restrictions.c.subject))
        return [one for one in (made(Restriction, row) for row in rows) if not one.until or one.until > now]

    @unit()
    def put(self, tx: TablesTransaction, wanted: Restriction, subjects: Sequence[str]) -> None:
        """Let it hold for a person and for every account that is theirs: one commit."""
        now = tx.clock()
        for subject in dict.fromkeys((wanted.subject, *subjects)):
            values = {"person": clean(wanted.person), "by": clean(wanted.by), "until": wanted.until, "since": now}
            known = {"subject": clean(subject), "kind": wanted.kind}
            tx.execute(put(restrictions, ["subject", "kind"], **known, **values))
        over = (restrictions.c.until > 0) & (restrictions.c.until < now)
        tx.execute(sa.delete(restrictions).where(over))

    @unit()
    def lift(self, tx: TablesTransaction, *subjects: str, kind: str = "") -> int:
        """Take back what holds for these names, or was said of these persons; how many rows that were."""
        names = [clean(one) for one in subjects if one]
        mine = restrictions.c.subject.in_(names) | restrictions.c.person.in_(names)
        kinds = equal(restrictions, **({"kind": kind} if kind else {}))
        return tx.execute(sa.delete(restrictions).where(mine, kinds)).changed


def restriction_of(tx: TablesTransaction, names: Iterable[str], now: float | None = None) -> Restriction | None:
    """What holds now for any of these names."""
    wanted = [clean(one) for one in names if one]
    rows = tx.execute(sa.select(restrictions).where(restrictions.c.subject.in_(wanted)))
    now = tx.clock() if now is None else now
    there = [one for one in (made(Restriction, row) for row in rows) if not one.until or one.until > now]
    return max(there, key=lambda one: (one.kind == "block", one.until or float("inf")), default=None)
