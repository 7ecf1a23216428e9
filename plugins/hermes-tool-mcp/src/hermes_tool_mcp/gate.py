"""What the policy is told of a call: what a server's wall bounds, and what a person listed, asks nobody."""

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from hermes_core.context import PluginContext
from hermes_core.types import JSON, Session, ToolCall, Verdict
from hermes_tool_mcp.config import ServerSettings
from hermes_tool_mcp.known import lists_of, settings_of
from hermes_tool_mcp.lists import Listed, ListedTool
from hermes_tool_mcp.names import named, server_of
from hermes_tool_mcp.tools import bounded, offered

__all__ = ["judged"]

_ADDRESS = re.compile(r"https?://", re.IGNORECASE)
_BOUNDED = Verdict(outcome="allow", effects=frozenset())


def judged(ctx: PluginContext, session: Session, call: ToolCall) -> Verdict | None:
    """Return the verdict on a call; None leaves it to what the tool declares."""
    name = server_of(call.name)
    server = settings_of(ctx, name, session.id)
    listed = lists_of(ctx).get(name, server) if server else None
    if server is None or listed is None:
        return None
    one = _tools(ctx, name, server, listed).get(call.name)
    if one is None:
        return None
    inner = one.name
    if bounded(server) or any(fnmatchcase(inner, pattern) for pattern in server.allow):
        return _BOUNDED
    if one.looks:  # an address in it may carry what was read to somebody else: then its effects are judged
        return None if _names_an_address(call.arguments) else _BOUNDED
    return Verdict(outcome="ask", reason=f"calls {inner} of the MCP server {name}")


def _tools(ctx: PluginContext, name: str, server: ServerSettings, listed: Listed) -> Mapping[str, ListedTool]:
    """Return what is offered of a server, by the names that models know; made once for each list."""
    known: dict[str, tuple[Listed, ServerSettings, Mapping[str, ListedTool]]] = ctx.state.setdefault("judged", {})
    before = known.get(name)
    if before is None or before[0] is not listed or before[1] is not server:
        there = {one.name: one for one in offered(server, listed)}
        before = known[name] = (listed, server, {outer: there[inner] for outer, inner in named(name, there).items()})
    return before[2]


def _names_an_address(value: JSON) -> bool:
    if isinstance(value, str):
        return bool(_ADDRESS.search(value))
    if isinstance(value, Mapping):
        return any(_names_an_address(one) for one in value.values())
    if isinstance(value, Sequence):
        return any(_names_an_address(one) for one in value)
    return False
