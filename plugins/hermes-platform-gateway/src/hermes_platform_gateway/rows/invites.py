"""Whom a person invited by name: words that are kept as hashes, and let one account in, once."""

from typing import Any

import sqlalchemy as sa

from hermes_core.codec import clean
from hermes_core.database import READ, TablesTransaction, made
from hermes_platform_gateway.rows.tables import Part, equal, invites, people, put, unit
from hermes_platform_gateway.rows.values import Invite, Person

__all__ = ["Invites"]


class Invites(Part):
    """The rows of invitations that wait."""

    @unit()
    def add(self, tx: TablesTransaction, wanted: Invite, seconds: float) -> Invite:
        """Write an invitation down, good for so many seconds; those that are over are forgotten."""
        now = tx.clock()
        tx.execute(sa.delete(invites).where(invites.c.expires < now))
        values = {name: clean(getattr(wanted, name)) for name in ("hash", "person", "role", "by", "fresh")}
        tx.execute(sa.insert(invites).values(**values, created=now, expires=now + seconds))
        return Invite(**values, created=now, expires=now + seconds)

    @unit(READ)
    def waiting(self, tx: TablesTransaction, *, now: float | None = None) -> list[Invite]:
        """The invitations that are still good, oldest first."""
        now = tx.clock() if now is None else now
        rows = tx.execute(
            sa.select(invites).where(equal(invites, used=""), invites.c.expires >= now).order_by(invites.c.created)
        )
        return [made(Invite, row) for row in rows]

    @unit()
    def withdraw(self, tx: TablesTransaction, person: str) -> int:
        """Take back all invitations of a person; how many there were."""
        return tx.execute(sa.delete(invites).where(equal(invites, person=clean(person), used=""))).changed

    @unit()
    def redeem(
        self, tx: TablesTransaction, hash_: str, *, platform: str, sender: str, name: str, again: bool = False
    ) -> Person | None:
        """Let an account in with an invitation, which is used up by that; None when it is not good any more.

        To the account that it let in it says the same ``again``, and lets in nobody then.
        """
        now = tx.clock()
        tx.alone("invites")
        rows = tx.execute(sa.select(invites).where(equal(invites, hash=clean(hash_))))
        if not rows or not rows[0]["created"] - 60 <= now <= rows[0]["expires"]:
            return None
        found, account = made(Invite, rows[0]), clean(f"{platform}:{sender}")
        values: dict[str, Any] = {"platform": clean(platform), "sender": clean(sender), "name": clean(name)}
        values |= {"person": found.person, "role": found.role, "by": found.by, "since": now}
        if found.used:
            return Person(**values) if found.used == account else None
        if again:
            return None
        if found.fresh and tx.execute(sa.select(people.c.sender).where(equal(people, person=found.person))):
            return None
        tx.execute(sa.update(invites).where(equal(invites, hash=found.hash)).values(used=account))
        tx.execute(put(people, ["platform", "sender"], **values))
        return Person(**values)
