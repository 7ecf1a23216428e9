"""Who shares, and with whom: persons by their names, as the gateway calls them."""

import re
import time

from hermes_core.context import PluginContext
from hermes_core.types import Principal, Session
from hermes_tool_kit.places import ToldHere

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_tool_shared.rows import Shared

__all__ = ["find", "is_alone", "is_known", "note", "plain", "shared_of"]

_DOCUMENT = "shares"
_FRESH = 2.0  # seconds for which it is known of somebody that they share nothing


def shared_of(ctx: PluginContext) -> "Shared":
    """Return the rows of this home."""
    if "rows" not in ctx.state:
        from hermes_tool_shared.rows import Shared  # with SQLAlchemy, which who shares nothing goes without

        ctx.state["rows"] = Shared(ctx.store)
    found: Shared = ctx.state["rows"]
    return found


async def note(ctx: PluginContext, person: str) -> None:
    """Take note that somebody shares something, or may have something of others, before they do."""
    await ctx.documents.put(_DOCUMENT, value=True, owner=Principal(profile=ctx.owner.profile, person=person))
    ctx.state.setdefault("known", set()).add(person)


async def is_known(ctx: PluginContext, owner: Principal) -> bool:
    """Tell whether somebody may share anything with anybody: of most nothing more has to be looked up."""
    known: set[str] = ctx.state.setdefault("known", set())
    looked: dict[str, float] = ctx.state.setdefault("looked", {})
    now = time.monotonic()
    if owner.person not in known and now - looked.get(owner.person, -_FRESH) >= _FRESH:
        looked[owner.person] = now
        if await ctx.documents.get(_DOCUMENT, owner=owner):
            known.add(owner.person)
    return owner.person in known


async def find(ctx: PluginContext, person: str) -> str:
    """Return the person that is meant, empty where nobody of that name ever spoke here, or they are blocked."""
    stored = {one.person for one in await ctx.sessions.people() if one.profile == ctx.owner.profile}
    if person not in stored | {ctx.owner.person} or "#" in person or person.startswith("("):
        return ""
    who = Principal(profile=ctx.owner.profile, person=person)
    return "" if who != ctx.owner and (await ctx.host.rights(who)).silent else person


async def is_alone(ctx: PluginContext, session: Session) -> bool:
    """Tell whether what is said in a session is read by nobody but its owner, who speaks in it."""
    return session.asker == session.owner and await ToldHere(ctx.sessions, session).all()


def plain(name: str) -> str:
    """Return a name as a model is told it: nothing in it is a sentence, or ends a line."""
    return re.sub(r"[^\w.@:+-]", "", name)[:80]
