"""All rows of the gateway in one store; each part is reached by name, and each of its methods is one transaction."""

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_core.database import StoreBroker
from hermes_core.types import Migration

if TYPE_CHECKING:
    from hermes_core.context import PluginContext
    from hermes_core.types import Envelope, Message, Principal

__all__ = ["MIGRATION", "Rows", "end_drafts", "is_order", "is_order_of", "orders", "rows_of", "sent", "unplayed"]

_ALL = 1_000_000
MIGRATION = Migration(folder=Path(__file__).parent / "versions", head="0005")


class Rows:
    """What the gateway keeps: what has to go out, where people are reached, which session a chat has, who may talk.

    Besides, which process serves which account.
    """

    def __init__(self, store: StoreBroker) -> None:
        from hermes_platform_gateway.rows.accounts import Accounts  # with SQLAlchemy, which a terminal starts without
        from hermes_platform_gateway.rows.chats import Chats
        from hermes_platform_gateway.rows.invites import Invites
        from hermes_platform_gateway.rows.outbox import Outbox
        from hermes_platform_gateway.rows.people import People
        from hermes_platform_gateway.rows.questions import Questions
        from hermes_platform_gateway.rows.quiet import Quiet
        from hermes_platform_gateway.rows.restrictions import Restrictions
        from hermes_platform_gateway.rows.routes import Routes
        from hermes_platform_gateway.rows.threads import Threads
        from hermes_platform_gateway.rows.traced import Traced

        self.outbox, self.traced, self.chats = Outbox(store), Traced(store), Chats(store)
        self.routes, self.people, self.accounts = Routes(store), People(store), Accounts(store)
        self.questions, self.invites = Questions(store), Invites(store)
        self.restrictions, self.quiet, self.threads = Restrictions(store), Quiet(store), Threads(store)


def rows_of(ctx: "PluginContext") -> Rows:
    """The rows of the gateway in the store of its kernel."""
    if "rows" not in ctx.state:
        ctx.state["rows"] = Rows(ctx.store)
    found: Rows = ctx.state["rows"]
    return found


async def end_drafts(ctx: "PluginContext", platform: str, account: str, message: "Message", before: float) -> int:
    """Let a message stand for the answers that were shown and never came: their turns ended before an instant."""
    outbox = rows_of(ctx).outbox
    over = await ctx.host.records.over(await outbox.drafts(platform, account), before)
    return await outbox.end_drafts(platform, account, message, over)


async def sent(
    ctx: "PluginContext", trace: str, turn_id: str, owner: "Principal | None"
) -> Sequence[Mapping[str, Any]]:
    """What went out of a trace or a turn, as far as an owner, or anybody, may see it; with how its account is."""
    rows = await rows_of(ctx).traced.on_the_way(trace, turn_id, owner)
    accounts = await rows_of(ctx).accounts.list() if rows else ()
    how = {(one.platform, one.account): (one.state, one.error) for one in accounts}
    states = [how.get((row["platform"], row["account"]), (None, None)) for row in rows]
    return [{**row, "account_state": s, "account_error": e} for row, (s, e) in zip(rows, states, strict=True)]


async def unplayed(ctx: "PluginContext", *, limit: int = 100) -> "Sequence[tuple[str, Principal]]":
    """The sessions in which something came from a chat, waits, and nobody works: the oldest first, so many of each."""
    chats = await rows_of(ctx).chats.list_chats(None)
    came = {(chat.owner, chat.platform, chat.account) for chat in chats}
    return _few(await ctx.host.turns.unplayed(came, limit=_ALL), limit)


async def orders(ctx: "PluginContext", *, limit: int = 100) -> "Sequence[tuple[str, Principal]]":
    """The sessions in which a turn that a plugin ordered waits, or was cut off, and nobody works: as ``unplayed``."""
    return _few(await ctx.host.turns.unplayed(_Orders(), limit=_ALL), limit)


def _few(found: "Sequence[tuple[str, Principal]]", limit: int) -> "Sequence[tuple[str, Principal]]":
    """The first of each owner: however much waits for one, what waits for others is found."""
    many: Counter[Principal] = Counter()
    kept = []
    for session_id, owner in found:
        many[owner] += 1
        if many[owner] <= limit:
            kept.append((session_id, owner))
    return kept


def is_order(platform: str, account: str, owner: "Principal") -> bool:
    """Whether a message is a plugin's order: it came by the plugin's label, and for the account PROFILE/PERSON."""
    return "/" in platform and account == f"{owner.profile}/{owner.person}"


def is_order_of(envelope: "Envelope", owner: "Principal") -> bool:
    """Whether a plugin ordered a turn by what came in this envelope."""
    return is_order(envelope.platform, envelope.account, owner)


class _Orders(Container["tuple[Principal, str, str]"]):
    """Every address by which plugins order turns."""

    def __contains__(self, address: object) -> bool:
        if not isinstance(address, tuple):
            return False
        owner, platform, account = address
        return is_order(platform, account, owner)
