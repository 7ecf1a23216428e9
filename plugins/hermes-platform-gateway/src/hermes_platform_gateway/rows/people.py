"""Whom a person let in: accounts of chat services that are somebody here, and strangers who wait with a code.

A code is kept as a salted hash. What was asked and what was tried are rows, so that a restart forgets no limit.
"""

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from hermes_core.codec import clean
from hermes_core.database import READ, TablesTransaction, made
from hermes_platform_gateway.rows.restrictions import restriction_of
from hermes_platform_gateway.rows.tables import Part, equal, locks, pairings, people, put, unit
from hermes_platform_gateway.rows.values import Pairing, Person, Restriction

__all__ = ["HOUR", "MOST_FAILURES", "MOST_WAITING", "PAUSE", "People"]

HOUR = 3600.0  # seconds that a code is good for, and that nobody may try after too many wrong ones
PAUSE = 600.0  # seconds before the same stranger gets another code
MOST_WAITING = 1000  # strangers with a code on one platform; one more takes the place of who waits longest
MOST_FAILURES = 5


class People(Part):
    """The rows of who may talk."""

    @unit(READ)
    def speaker(
        self, tx: TablesTransaction, platform: str, sender: str, *names: str
    ) -> tuple[Person | None, Restriction | None]:
        """An account, if it was let in, and what keeps it, its person or one of these names from being heard."""
        rows = tx.execute(sa.select(people).where(_account(people, platform, sender)))
        known = made(Person, rows[0]) if rows else None
        account = f"{platform}:{sender}" if sender else ""
        return known, restriction_of(tx, (account, known.person if known else "", *names))

    @unit(READ)
    def person(self, tx: TablesTransaction, platform: str, sender: str) -> Person | None:
        """An account, if it was let in."""
        rows = tx.execute(sa.select(people).where(_account(people, platform, sender)))
        return made(Person, rows[0]) if rows else None

    @unit(READ)
    def people(self, tx: TablesTransaction) -> list[Person]:
        """All accounts that were let in."""
        rows = sa.select(people).order_by(people.c.since, people.c.platform, people.c.sender)
        return [made(Person, row) for row in tx.execute(rows)]

    @unit()
    def forget_person(self, tx: TablesTransaction, platform: str, sender: str) -> bool:
        """Let an account in no longer, and forget the code it waits with; whether there was anything to forget."""
        return sum(_dropped(tx, table, platform, sender) for table in (people, pairings)) > 0

    @unit(READ)
    def pairing_refused(self, tx: TablesTransaction, platform: str, sender: str, *, now: float | None = None) -> str:
        """Why a stranger gets no code now: ``soon``, as they got one a short while ago; empty: they do."""
        return _refused(tx, platform, sender, _now(tx, now))

    @unit()
    def ask_pairing(self, tx: TablesTransaction, wanted: Pairing, *, now: float | None = None) -> str:
        """Let a stranger wait with a code for an hour from now; empty, or why not, as ``pairing_refused``.

        Nobody can keep a newcomer out by waiting: where very many do, it is the code of who waits longest that goes.
        """
        now = _now(tx, now)
        tx.alone(f"pairing {wanted.platform}")
        if why := _refused(tx, wanted.platform, wanted.sender, now):
            return why
        texts = {n: clean(getattr(wanted, n)) for n in ("platform", "sender", "account", "chat", "name")}
        _dropped(tx, pairings, wanted.platform, wanted.sender)
        _make_room(tx, wanted.platform, now)
        row = {"salt": wanted.salt, "hash": wanted.hash, "created": now, "expires": now + HOUR}
        tx.execute(sa.insert(pairings).values(**texts, **row))
        return ""

    @unit(READ)
    def pairings(self, tx: TablesTransaction, *, now: float | None = None) -> list[Pairing]:
        """The strangers whose code is still good, oldest first."""
        now = _now(tx, now)
        rows = tx.execute(sa.select(pairings).order_by(pairings.c.id))
        return [one for one in map(_pairing, rows) if _good(one, now)]

    @unit(READ)
    def salt(self, tx: TablesTransaction) -> str:
        """The salt of the codes that wait, so that one hash tells of all whether a code is theirs; empty: any does."""
        rows = tx.execute(sa.select(pairings.c.salt).order_by(pairings.c.id.desc()).limit(1))
        return str(rows[0]["salt"]) if rows else ""

    @unit()
    def let_in(
        self, tx: TablesTransaction, pairing: Pairing, person: str, role: str, by: str, *, now: float | None = None
    ) -> Person | None:
        """Let the stranger in who waits; None when they do no longer. Their code is used up by that."""
        now = _now(tx, now)
        rows = tx.execute(sa.select(pairings).where(equal(pairings, id=pairing.id, hash=pairing.hash)))
        if not rows or not _good(_pairing(rows[0]), now):
            return None
        values = {name: rows[0][name] for name in ("platform", "sender", "name")}
        if not _dropped(tx, pairings, values["platform"], values["sender"]):
            return None
        values |= {"person": clean(person), "role": role, "by": clean(by), "since": now}
        tx.execute(put(people, ["platform", "sender"], **values))
        return Person(**values)

    @unit(READ)
    def pairing_locked(self, tx: TablesTransaction, where: str, *, now: float | None = None) -> float:
        """Seconds for which nobody may try a code at a place; 0 when one may."""
        return _locked(*_tries(tx, clean(where)), _now(tx, now))

    @unit()
    def pairing_tried(self, tx: TablesTransaction, where: str, *, right: bool, now: float | None = None) -> bool:
        """Count a code that was tried at a place, before anybody learns whether it was ``right``. False: locked."""
        where, now = clean(where), _now(tx, now)
        tx.alone(f"pairing {where}")
        failures, until = _tries(tx, where)
        if _locked(failures, until, now):
            tx.execute(put(locks, ["platform"], platform=where, failures=failures, until=min(until, now + HOUR)))
            return False
        if now >= until:  # the last wrong ones are long ago
            failures = 0
        counted = {"failures": 0, "until": 0.0} if right else {"failures": failures + 1, "until": now + HOUR}
        tx.execute(put(locks, ["platform"], platform=where, **counted))
        return True


def _refused(tx: TablesTransaction, platform: str, sender: str, now: float) -> str:
    rows = tx.execute(sa.select(pairings).where(_account(pairings, platform, sender)))
    return "soon" if any(abs(now - _pairing(row).created) < PAUSE for row in rows) else ""


def _make_room(tx: TablesTransaction, platform: str, now: float) -> None:
    """Forget the codes of a platform that are over, and the oldest where too many wait."""
    rows = tx.execute(sa.select(pairings).where(pairings.c.platform == clean(platform)).order_by(pairings.c.id))
    there = [_pairing(row) for row in rows]
    good = [one.id for one in there if _good(one, now)]
    gone = {one.id for one in there} - set(good[-(MOST_WAITING - 1) :])
    for one in gone:
        tx.execute(sa.delete(pairings).where(pairings.c.id == one))


def _now(tx: TablesTransaction, given: float | None) -> float:
    return tx.clock() if given is None else given


def _account(of: sa.Table, platform: str, sender: str) -> sa.ColumnElement[bool]:
    return equal(of, platform=clean(platform), sender=clean(sender))


def _dropped(tx: TablesTransaction, of: sa.Table, platform: str, sender: str) -> bool:
    return bool(tx.execute(sa.delete(of).where(_account(of, platform, sender))).changed)


def _tries(tx: TablesTransaction, where: str) -> tuple[int, float]:
    """How many wrong codes were tried at a place, and until when they count."""
    rows = tx.execute(sa.select(locks).where(locks.c.platform == where))
    return (rows[0]["failures"], rows[0]["until"]) if rows else (0, 0.0)


def _good(one: Pairing, now: float) -> bool:
    """Whether a code may still be used. One of the future was made by a clock that has been put back since."""
    return one.created - 60 <= now < min(one.expires, one.created + HOUR)


def _locked(failures: int, until: float, now: float) -> float:
    """Seconds that are left; a clock that was put back makes them no more than an hour."""
    return max(0.0, min(until - now, HOUR)) if failures >= MOST_FAILURES else 0.0


def _pairing(row: Mapping[str, Any]) -> Pairing:
    return made(Pairing, row)
