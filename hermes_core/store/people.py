"""Whom a person let in: accounts of chat services that are somebody here, and strangers who wait with a code.

A code is kept as a salted hash. What was asked and what was tried are rows, so that a restart forgets no limit.
"""

import time

from hermes_core.database import READ, Transaction
from hermes_core.store.codec import clean
from hermes_core.store.sessions import Sessions, made, transaction
from hermes_core.values import frozen

__all__ = ["HOUR", "MOST_FAILURES", "MOST_WAITING", "PAUSE", "Pairing", "People", "Person"]

HOUR = 3600.0  # seconds that a code is good for, and that nobody may try after too many wrong ones
PAUSE = 600.0  # seconds before the same stranger gets another code
MOST_WAITING = 3  # strangers with a code on one platform
MOST_FAILURES = 5


@frozen(kw_only=True)
class Person:
    """An account that was let in. ``role`` is admin or user; ``by`` who let it in; ``since`` in seconds since 1970."""

    platform: str
    sender: str
    person: str
    role: str = "user"
    name: str = ""
    by: str = ""
    since: float = 0.0


@frozen(kw_only=True)
class Pairing:
    """A stranger who waits with a code, where they wrote, and the code's hash."""

    id: int = 0
    platform: str
    sender: str
    account: str = ""
    chat: str = ""
    name: str = ""
    salt: str
    hash: str
    created: float = 0.0
    expires: float = 0.0


class People(Sessions):
    """The part of the store that knows who may talk."""

    @transaction(READ)
    def person(self, tx: Transaction, platform: str, sender: str) -> Person | None:
        """An account, if it was let in."""
        row = tx.row("person_get", platform=clean(platform), sender=clean(sender))
        return made(Person, row) if row else None

    @transaction(READ)
    def people(self, tx: Transaction) -> list[Person]:
        """All accounts that were let in."""
        return [made(Person, row) for row in tx.rows("people_list")]

    @transaction()
    def forget_person(self, tx: Transaction, platform: str, sender: str) -> bool:
        """Let an account in no longer, and forget the code it waits with; whether there was anything to forget."""
        names = {"platform": clean(platform), "sender": clean(sender)}
        gone = [tx.change(name, **names).rowcount for name in ("person_drop", "pairing_drop")]
        return any(gone)

    @transaction(READ)
    def pairing_refused(self, tx: Transaction, platform: str, sender: str, *, now: float | None = None) -> str:
        """Why a stranger gets no code now: ``soon`` (they got one a short while ago), ``many`` wait; empty: they do."""
        return _refused(tx, platform, sender, _now(tx, now))

    @transaction()
    def ask_pairing(self, tx: Transaction, wanted: Pairing, *, now: float | None = None) -> str:
        """Let a stranger wait with a code for an hour from now; empty, or why not, as ``pairing_refused``."""
        now = _now(tx, now)
        tx.alone(f"pairing {wanted.platform}")
        if why := _refused(tx, wanted.platform, wanted.sender, now):
            return why
        texts = {n: clean(getattr(wanted, n)) for n in ("platform", "sender", "account", "chat", "name")}
        tx.change("pairing_drop", platform=texts["platform"], sender=texts["sender"])
        row = {"salt": wanted.salt, "hash": wanted.hash, "created": now, "expires": now + HOUR}
        tx.change("pairing_add", **texts, **row)
        return ""

    @transaction(READ)
    def pairings(self, tx: Transaction, *, now: float | None = None) -> list[Pairing]:
        """The strangers whose code is still good, oldest first."""
        now = _now(tx, now)
        return [one for one in map(_pairing, tx.rows("pairings_list")) if _good(one, now)]

    @transaction()
    def let_in(
        self, tx: Transaction, pairing: Pairing, person: str, role: str, by: str, *, now: float | None = None
    ) -> Person | None:
        """Let the stranger in who waits; None when they do no longer. Their code is used up by that."""
        now = _now(tx, now)
        row = tx.row("pairing_get", id=pairing.id)
        if row is None or row["hash"] != pairing.hash or not _good(_pairing(row), now):
            return None
        if not tx.change("pairing_drop", platform=row["platform"], sender=row["sender"]).rowcount:
            return None
        values = {"platform": row["platform"], "sender": row["sender"], "name": row["name"]}
        values |= {"person": clean(person), "role": role, "by": clean(by), "since": now}
        tx.change("person_put", **values)
        return Person(**values)

    @transaction(READ)
    def pairing_locked(self, tx: Transaction, where: str, *, now: float | None = None) -> float:
        """Seconds for which nobody may try a code at a place; 0 when one may."""
        row = tx.row("pairing_lock_get", platform=clean(where))
        return _locked(row["failures"], row["until"], _now(tx, now)) if row else 0.0

    @transaction()
    def pairing_tried(self, tx: Transaction, where: str, *, right: bool, now: float | None = None) -> bool:
        """Count a code that was tried at a place, before anybody learns whether it was ``right``. False: locked."""
        where, now = clean(where), _now(tx, now)
        tx.alone(f"pairing {where}")
        row = tx.row("pairing_lock_get", platform=where)
        failures, until = (row["failures"], row["until"]) if row else (0, 0.0)
        if _locked(failures, until, now):
            tx.change("pairing_lock_put", platform=where, failures=failures, until=min(until, now + HOUR))
            return False
        if now >= until:  # the last wrong ones are long ago
            failures = 0
        counted = {"failures": 0, "until": 0.0} if right else {"failures": failures + 1, "until": now + HOUR}
        tx.change("pairing_lock_put", platform=where, **counted)
        return True


def _refused(tx: Transaction, platform: str, sender: str, now: float) -> str:
    there = [_pairing(row) for row in tx.rows("pairings_of", platform=clean(platform))]
    if any(one.sender == clean(sender) and abs(now - one.created) < PAUSE for one in there):
        return "soon"
    waiting = sum(_good(one, now) and one.sender != clean(sender) for one in there)
    return "many" if waiting >= MOST_WAITING else ""


def _now(tx: Transaction, given: float | None) -> float:
    return (tx.clock() or time.time()) if given is None else given


def _good(one: Pairing, now: float) -> bool:
    """Whether a code may still be used. One of the future was made by a clock that has been put back since."""
    return one.created - 60 <= now < min(one.expires, one.created + HOUR)


def _locked(failures: int, until: float, now: float) -> float:
    """Seconds that are left; a clock that was put back makes them no more than an hour."""
    return max(0.0, min(until - now, HOUR)) if failures >= MOST_FAILURES else 0.0


def _pairing(row: object) -> Pairing:
    return made(Pairing, row)  # type: ignore[arg-type]
