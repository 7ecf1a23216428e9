"""What every part of the store is made of: methods that are transactions, and rows as values."""

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeAlias, TypeVar

from hermes_core.codec import clean
from hermes_core.database import WRITE, Begin, Transaction, made
from hermes_core.errors import UnknownName
from hermes_core.types import Principal, Session

S = TypeVar("S", bound="Stored")
T = TypeVar("T")
P = ParamSpec("P")
Work: TypeAlias = Callable[Concatenate[S, Transaction, P], T]
Step: TypeAlias = Callable[Concatenate[S, P], Coroutine[object, object, T]]


class Units(Protocol):
    """What runs units of work: a Database, or what opens one when the first comes."""

    async def run(self, work: Callable[[Transaction], T], begin: Begin = WRITE, *, long: bool = False) -> T:
        """See Database."""


class Stored:
    """A part of what lasts. Every method is one transaction, sees what its owner may see, and raises StoreError."""

    def __init__(self, database: Units) -> None:
        self._database = database


def transaction(begin: Begin = WRITE, *, long: bool = False) -> Callable[[Work[S, P, T]], Step[S, P, T]]:
    """Make a method that works in a transaction one to await: it runs in one of its own, again if need be.

    One that writes is alone with the session that an argument names first (an id, a Session, a Turn).
    """

    def decorate(work: Work[S, P, T]) -> Step[S, P, T]:
        @wraps(work)
        async def run(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
            def unit(tx: Transaction) -> T:
                if tx.server and begin == WRITE and (name := _subject(*args, kwargs.get("session_id"))):
                    tx.alone(clean(name))  # what cannot be one has no session either
                return work(self, tx, *args, **kwargs)

            return await self._database.run(unit, begin, long=long)

        return run

    return decorate


def _subject(*arguments: object) -> str:
    """Return the id of the session that a method's arguments name first, or an empty string."""
    named = (a if isinstance(a, str) else getattr(a, "session_id", getattr(a, "id", "")) for a in arguments)
    return next((str(name) for name in named if name), "")


def owner_number(tx: Transaction, owner: Principal) -> int:
    """Return the number rows name an owner by; -1, which no row has, for one who owns nothing yet."""
    row = tx.row("owner_find", profile=clean(owner.profile), person=clean(owner.person))
    return int(row["id"]) if row else -1


def owner_row(tx: Transaction, owner: Principal) -> int:
    """Return the same, made when it is new."""
    found = owner_number(tx, owner)
    if found >= 0:
        return found
    names = {"profile": clean(owner.profile), "person": clean(owner.person)}
    return tx.add("owner_add", **names)


def get_session(tx: Transaction, session_id: str, owner: Principal) -> Session:
    """Return one session of an owner. Raises UnknownName."""
    row = tx.row("session_get", id=clean(session_id), owner=owner_number(tx, owner))
    if row is None:
        raise UnknownName("session", session_id)
    return made(Session, row, owner=owner)


def session_facts(tx: Transaction, session_id: str) -> tuple[int, int]:
    """Return the owner and newest message of a session. Raises UnknownName."""
    row = tx.row("session_facts", id=session_id)
    if row is None:
        raise UnknownName("session", session_id)
    return row["owner"], row["last"]
