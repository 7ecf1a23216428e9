"""All rows of the gateway in one store; each part is reached by name, and each of its methods is one transaction."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar, cast
from weakref import WeakKeyDictionary, ref

from hermes_core.database import WRITE, Begin, StoreBroker, TablesTransaction
from hermes_core.plugins.own_tables import PluginStore
from hermes_core.types import Migration

if TYPE_CHECKING:
    from hermes_core.gateway.rows.chats import Chats
    from hermes_core.gateway.rows.outbox import Outbox
    from hermes_core.gateway.rows.people import People
    from hermes_core.gateway.rows.routes import Routes
    from hermes_core.plugins.index import Installed
    from hermes_core.store.journal import Store
    from hermes_core.types import Message, Principal

__all__ = ["MIGRATION", "Rows", "end_drafts", "rows_of", "sent", "unit", "unplayed"]

P = ParamSpec("P")
S = TypeVar("S", bound="_Part")
T = TypeVar("T")
MIGRATION = Migration(folder=Path(__file__).parent / "versions", head="0001")


class _Part(Protocol):
    _store: StoreBroker


def unit(
    begin: Begin = WRITE,
) -> Callable[[Callable[Concatenate[S, TablesTransaction, P], T]], Callable[Concatenate[S, P], Coroutine[Any, Any, T]]]:
    """Make a method that is a unit of work one to await: it runs in a transaction of its own, again if need be."""

    def decorate(
        work: Callable[Concatenate[S, TablesTransaction, P], T],
    ) -> Callable[Concatenate[S, P], Coroutine[Any, Any, T]]:
        @wraps(work)
        async def run(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
            return await self._store.transact(lambda tx: work(self, tx, *args, **kwargs), begin)

        return run

    return decorate


class Rows:
    """What the gateway keeps. SQLAlchemy is imported with the first part that is used."""

    def __init__(self, store: StoreBroker) -> None:
        self.store = store

    @cached_property
    def outbox(self) -> "Outbox":
        """What has to go out."""
        from hermes_core.gateway.rows.outbox import Outbox

        return Outbox(self.store)

    @cached_property
    def chats(self) -> "Chats":
        """Where people can be reached."""
        from hermes_core.gateway.rows.chats import Chats

        return Chats(self.store)

    @cached_property
    def routes(self) -> "Routes":
        """Which chat talks to which session."""
        from hermes_core.gateway.rows.routes import Routes

        return Routes(self.store)

    @cached_property
    def people(self) -> "People":
        """Who may talk."""
        from hermes_core.gateway.rows.people import People

        return People(self.store)


_rows: "WeakKeyDictionary[Store, Rows]" = WeakKeyDictionary()


def rows_of(store: "Store") -> Rows:
    """The rows of the gateway in a store."""
    if store not in _rows:
        there = ref(store)

        async def opened() -> "Store":
            return cast("Store", there())

        broker = PluginStore(cast("Installed", _Gateway()), str, opened, lambda _: [MIGRATION])
        _rows[store] = Rows(broker)
    return _rows[store]


async def end_drafts(store: "Store", platform: str, account: str, message: "Message", before: float) -> int:
    """Let a message stand for the answers that were shown and never came: their turns ended before an instant."""
    outbox = rows_of(store).outbox
    return await outbox.end_drafts(
        platform, account, message, await store.over(await outbox.drafts(platform, account), before)
    )


async def sent(store: "Store", trace: str, turn_id: str, owner: "Principal | None") -> Sequence[Mapping[str, Any]]:
    """What went out of a trace or a turn, as far as an owner, or anybody, may see it; with how its account is."""
    rows = await rows_of(store).outbox.on_the_way(trace, turn_id, owner)
    states = {(one.platform, one.account): one for one in (await store.accounts() if rows else ())}
    told = ((row, states.get((row["platform"], row["account"]))) for row in rows)
    return [
        {**row, "account_state": one.state if one else None, "account_error": one.error if one else None}
        for row, one in told
    ]


async def unplayed(store: "Store", *, limit: int = 100) -> "list[tuple[str, Principal]]":
    """The sessions of a store in which something came from a chat, waits, and nobody works: the oldest first."""
    chats = await rows_of(store).chats.list_chats(None)
    return await store.unplayed({(chat.owner, chat.platform, chat.account) for chat in chats}, limit=limit)


class _Gateway:
    """Who the tables belong to."""

    label = "platform/gateway"

    def require(self, *_: str) -> None:
        """It may."""
