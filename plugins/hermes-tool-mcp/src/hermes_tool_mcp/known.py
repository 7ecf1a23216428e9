"""Which servers there are, and what is known of them; light, as each start of a conversation looks at it."""

from collections.abc import Mapping
from typing import TypeGuard

from hermes_core.context import PluginContext
from hermes_core.types import Session
from hermes_tool_mcp.config import Config, ServerSettings
from hermes_tool_mcp.given import given_to
from hermes_tool_mcp.lists import Lists
from hermes_tool_mcp.live import changed_since

__all__ = ["closed_to", "lists_of", "servers_of", "settings_of"]


def servers_of(ctx: PluginContext, session: str = "") -> Mapping[str, ServerSettings]:
    """Return the servers that are used, as they are now; of a ``session`` too, by its id, what it was given."""
    config: Config = ctx.config or Config()
    there: dict[str, ServerSettings | None] = {**given_to(ctx, session), **config.servers, **changed_since(ctx)}
    return {name: one for name, one in there.items() if _used(one)}


def settings_of(ctx: PluginContext, name: str, session: str = "") -> ServerSettings | None:
    """Return one of them, None where there is none: of a hundred each is asked for, several times in each turn."""
    config: Config = ctx.config or Config()
    for there in (changed_since(ctx), config.servers, given_to(ctx, session)):
        if name in there:
            return one if _used(one := there[name]) else None
    return None


def _used(server: ServerSettings | None) -> TypeGuard[ServerSettings]:
    return bool(server and server.enabled and bool(server.command) != bool(server.url))


def lists_of(ctx: PluginContext) -> Lists:
    """Return the lists of a kernel."""
    found = ctx.state.get("lists") or ctx.state.setdefault("lists", Lists(ctx.paths.data))
    assert isinstance(found, Lists)
    return found


def closed_to(ctx: PluginContext, server: ServerSettings, session: Session) -> bool:
    """Tell whether a conversation may not use a server: not its owner's, or somebody else speaks in it."""
    if "*" in server.people:
        return False
    return not {session.owner.person, session.asker.person} <= {ctx.owner.person, *server.people}
