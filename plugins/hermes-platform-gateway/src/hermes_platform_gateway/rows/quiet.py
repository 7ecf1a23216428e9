"""When people want to be left in peace, and what waits until then. What is held is in the outbox, and no less kept."""

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from hermes_core.codec import clean
from hermes_core.database import READ, TablesTransaction, made
from hermes_core.types import Principal
from hermes_platform_gateway.rows.tables import Part, equal, outbox, owned, put, quiet, unit
from hermes_platform_gateway.rows.values import Outgoing, QuietHours
from hermes_tool_kit.hours import quiet_until

__all__ = ["Quiet", "held_until"]

_KEY = ["profile", "person", "platform", "chat"]


class Quiet(Part):
    """The rows of quiet hours."""

    @unit(READ)
    def of(self, tx: TablesTransaction, owner: Principal | None = None) -> list[QuietHours]:
        """Those of a person; without one everybody's."""
        rows = sa.select(quiet).where(equal(quiet, **(owned(owner) if owner else {})))
        return [made(QuietHours, row) for row in tx.execute(rows.order_by(*(quiet.c[name] for name in _KEY)))]

    @unit()
    def set(self, tx: TablesTransaction, hours: QuietHours) -> int:
        """Let them hold from now on, also for what is held already; how many messages that are."""
        values = {name: clean(getattr(hours, name)) for name in (*_KEY, "begins", "ends", "zone")}
        tx.execute(put(quiet, _KEY, **values))
        return _again(tx, hours.profile, hours.person)

    @unit()
    def drop(self, tx: TablesTransaction, owner: Principal, *, platform: str = "", chat: str = "") -> bool:
        """Take those of all chats back, or those of one; what was held for them goes out."""
        there = equal(quiet, **owned(owner), platform=clean(platform), chat=clean(chat))
        gone = tx.execute(sa.delete(quiet).where(there)).changed
        _again(tx, owner.profile, owner.person)
        return bool(gone)

    @unit(READ)
    def until(self, tx: TablesTransaction, owner: Principal, platform: str, chat: str) -> float:
        """Until when what nobody asked for would be held back in a chat now; 0 when it would go out."""
        return _until(_hours(tx, owned(owner)), platform, chat, tx.clock())


def held_until(tx: TablesTransaction, outgoing: Outgoing) -> float:
    """Until when a message that nobody asked for waits; 0 when it goes out at once."""
    return _until(_hours(tx, owned(outgoing.owner)), outgoing.platform, outgoing.chat.id, tx.clock())


def _hours(tx: TablesTransaction, whose: Mapping[str, str]) -> list[Mapping[str, Any]]:
    return list(tx.execute(sa.select(quiet).where(equal(quiet, **whose))))


def _until(hours: list[Mapping[str, Any]], platform: str, chat: str, now: float) -> float:
    """The chat's own hours hold in it in place of the person's."""
    there = [row for row in hours if (row["platform"], row["chat"]) == (clean(platform), clean(chat))]
    usual = [row for row in hours if not row["platform"]]
    return max((quiet_until(row["begins"], row["ends"], row["zone"], now) for row in there or usual), default=0.0)


def _again(tx: TablesTransaction, profile: str, person: str) -> int:
    """Hold what is held for as long as it is to be held now."""
    whose, now, many = {"profile": clean(profile), "person": clean(person)}, tx.clock(), 0
    hours = _hours(tx, whose)
    held = equal(outbox, **whose, state="waiting") & (outbox.c.held > 0)
    for row in tx.execute(sa.select(outbox.c.id, outbox.c.platform, outbox.c.chat).where(held)):
        until = _until(hours, row["platform"], row["chat"], now)
        tx.execute(sa.update(outbox).where(outbox.c.id == row["id"]).values(held=until, due=until))
        many += until > 0
    tx.tell("outbox")
    return many
