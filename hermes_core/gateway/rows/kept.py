"""All rows of the gateway in one store; each part is reached by name, and each of its methods is one transaction."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakKeyDictionary, ref

from hermes_core.database import StoreBroker
from hermes_core.plugins.own_tables import PluginStore
from hermes_core.types import Migration

if TYPE_CHECKING:
    from hermes_core.plugins.index import Installed
    from hermes_core.store.store import Store
    from hermes_core.types import Message, Principal

__all__ = ["MIGRATION", "OWNER", "Rows", "end_drafts", "rows_of", "sent", "unplayed"]

OWNER = "platform/gateway"  # whose the tables are by their names
MIGRATION = Migration(folder=Path(__file__).parent / "versions", head="0001")


class Rows:
    """What the gateway keeps: what has to go out, where people are reached, which session a chat has, who may talk."""

    def __init__(self, store: StoreBroker) -> None:
        from hermes_core.gateway.rows.chats import Chats  # with SQLAlchemy, which a terminal starts without
        from hermes_core.gateway.rows.outbox import Outbox
        from hermes_core.gateway.rows.people import People
        from hermes_core.gateway.rows.routes import Routes

        self.outbox, self.chats, self.routes, self.people = Outbox(store), Chats(store), Routes(store), People(store)


_rows: "WeakKeyDictionary[Store, Rows]" = WeakKeyDictionary()


class _Gateway:
    """Who the tables belong to."""

    label = OWNER

    def require(self, *_: str) -> None:
        """It may."""


def rows_of(store: "Store") -> Rows:
    """The rows of the gateway in a store."""
    if store not in _rows:
        there = ref(store)

        async def opened() -> "Store":
            return cast("Store", there())

        _rows[store] = Rows(PluginStore(cast("Installed", _Gateway()), str, opened, lambda _: [MIGRATION]))
    return _rows[store]


async def end_drafts(store: "Store", platform: str, account: str, message: "Message", before: float) -> int:
    """Let a message stand for the answers that were shown and never came: their turns ended before an instant."""
    outbox = rows_of(store).outbox
    over = await store.journal.over(await outbox.drafts(platform, account), before)
    return await outbox.end_drafts(platform, account, message, over)


async def sent(store: "Store", trace: str, turn_id: str, owner: "Principal | None") -> Sequence[Mapping[str, Any]]:
    """What went out of a trace or a turn, as far as an owner, or anybody, may see it; with how its account is."""
    rows = await rows_of(store).outbox.on_the_way(trace, turn_id, owner)
    how = {(one.platform, one.account): (one.state, one.error) for one in (await store.accounts.list() if rows else ())}
    states = [how.get((row["platform"], row["account"]), (None, None)) for row in rows]
    return [{**row, "account_state": s, "account_error": e} for row, (s, e) in zip(rows, states, strict=True)]


async def unplayed(store: "Store", *, limit: int = 100) -> "list[tuple[str, Principal]]":
    """The sessions of a store in which something came from a chat, waits, and nobody works: the oldest first."""
    chats = await rows_of(store).chats.list_chats(None)
    return await store.journal.unplayed({(chat.owner, chat.platform, chat.account) for chat in chats}, limit=limit)
