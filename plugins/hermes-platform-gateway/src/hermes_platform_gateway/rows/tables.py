"""The tables of the gateway as its migrations make them, and the few words that its statements are made of."""

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeAlias, TypeVar

import sqlalchemy as sa
from attrs import fields
from sqlalchemy.dialects import postgresql

from hermes_core.codec import clean
from hermes_core.database import WRITE, Begin, StoreBroker, TablesTransaction
from hermes_core.types import Envelope, Principal
from hermes_platform_gateway.rows.values import Invite, Pairing, Person, QuietHours, Restriction

__all__ = [
    "PLACE", "Part", "accounts", "chats", "equal", "invites", "locks", "outbox", "owned", "pairings", "people", "place",
    "put", "questions", "quiet", "restrictions", "routes", "threads", "unit",
]  # fmt: skip

P = ParamSpec("P")
S = TypeVar("S", bound="Part")
T = TypeVar("T")
Work: TypeAlias = Callable[Concatenate[S, TablesTransaction, P], T]
Step: TypeAlias = Callable[Concatenate[S, P], Coroutine[object, object, T]]

_metadata = sa.MetaData()
PLACE = ("platform", "account", "chat", "thread")


def _table(name: str, *columns: str) -> sa.Table:
    """A table whose columns need no more than their names at run time."""
    return sa.Table(f"platform_gateway__{name}", _metadata, *(sa.Column(column) for column in columns))


outbox = _table(
    "outbox", "id", "profile", "person", "key", "session_id", "turn_id", "trace", "kind", *PLACE, "reply_to", "body",
    "state", "placeholder", "message_id", "error", "holder", "tries", "repeated", "created", "due", "sent", "held",
    "opens",
)  # fmt: skip
chats = _table("chats", "id", "profile", "person", *PLACE, "kind", "name", "sender", "dead", "home", "seen")
routes = _table("routes", "key", "profile", "person", "session_id", "overrides", "made", "used")
people = _table("people", *(one.name for one in fields(Person)))
pairings = _table("pairings", *(one.name for one in fields(Pairing)))
restrictions = _table("restrictions", *(one.name for one in fields(Restriction)))
invites = _table("invites", *(one.name for one in fields(Invite)))
threads = _table(
    "threads", "id", "profile", "person", "platform", "account", "chat", "thread", "topic", "session_id", "made"
)
quiet = _table("quiet", *(one.name for one in fields(QuietHours)))
locks = _table("locks", "platform", "failures", "until")
accounts = _table(
    "accounts", "platform", "account", "holder", "place", "state", "error", "fence", "pid", "beat", "since"
)
questions = _table(
    "questions", "id", "profile", "person", "owner", "session_id", "kind", "addressee", "says", *PLACE, "keys",
    "closed", "asked",
)  # fmt: skip


def owned(owner: Principal) -> dict[str, str]:
    """The columns that say whose a row is."""
    return {"profile": clean(owner.profile), "person": clean(owner.person)}


def place(of: Envelope | Any) -> dict[str, str]:
    """The columns that say in which chat something is: of a message that came, or of a chat that is known."""
    return {name: clean(getattr(of, name)) for name in PLACE}


def equal(of: sa.Table, **values: object) -> sa.ColumnElement[bool]:
    """Rows with these values."""
    return sa.and_(sa.true(), *(of.c[name] == value for name, value in values.items()))


def put(to: sa.Table, unique: list[str], where: sa.ColumnElement[bool] | None = None, /, **values: Any) -> sa.Insert:
    """An insert that changes the row that is there instead, as far as ``where`` allows it.

    Both dialects read what PostgreSQL's says about conflicts.
    """
    insert = postgresql.insert(to).values(values)
    known = {name: value for name, value in values.items() if name not in unique}
    return insert.on_conflict_do_update(index_elements=unique, set_=known, where=where)


class Part:
    """Rows of one kind. Every method is one transaction, and raises StoreError."""

    def __init__(self, store: StoreBroker) -> None:
        self._store = store


def unit(begin: Begin = WRITE) -> Callable[[Work[S, P, T]], Step[S, P, T]]:
    """Make a method that is a unit of work one to await: it runs in a transaction of its own, again if need be."""

    def decorate(work: Work[S, P, T]) -> Step[S, P, T]:
        @wraps(work)
        async def run(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
            return await self._store.transact(lambda tx: work(self, tx, *args, **kwargs), begin)

        return run

    return decorate
