"""``/mcp``: the servers of a conversation, and those that it alone is given.

Hosts that open conversations for somebody who brings servers of their own, as editors do, give them by this command.
"""

import asyncio
from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.types import Session, SlashCommand
from hermes_tool_mcp.beginning import met
from hermes_tool_mcp.config import ServerSettings
from hermes_tool_mcp.given import Given, give, given_to, hidden, read, sweep
from hermes_tool_mcp.known import closed_to, lists_of, servers_of
from hermes_tool_mcp.tools import offered

__all__ = ["own_servers"]


def own_servers(ctx: PluginContext) -> Sequence[SlashCommand]:
    """The one command."""

    async def run(session: Session, rest: str) -> str:
        if rest.strip():
            await _given(ctx, session, read(rest))
        return _told(ctx, session)

    return [SlashCommand(name="mcp", run=run)]


async def _given(ctx: PluginContext, session: Session, servers: dict[str, Given]) -> None:
    """Give them to a session; those that it has already stay as they are, and connected."""
    before = given_to(ctx, session.id)
    kept = {name: before[name] if before.get(name) == one else one for name, one in servers.items()}
    if gone := set(before) - {name for name, one in kept.items() if before.get(name) is one}:
        from hermes_tool_mcp.pool import pool_of

        await pool_of(ctx).release(session.id, only=gone)
    give(ctx, session.id, kept)
    if not ctx.state.get("swept"):
        ctx.state["swept"] = True
        await asyncio.to_thread(sweep, ctx)
    await met(ctx, session)


def _told(ctx: PluginContext, session: Session) -> str:
    lines, given = [], given_to(ctx, session.id)
    for name, server in servers_of(ctx, session.id).items():
        if closed_to(ctx, server, session):
            continue
        listed = lists_of(ctx).get(name, server)
        many = f"{len(offered(server, listed))} tools" if listed else _absent(ctx, session, name, server)
        lines.append(f"{name}: {many}{', of this conversation alone' if given.get(name) is server else ''}")
    if left := [name for name in given if servers_of(ctx, session.id).get(name) is not given[name]]:
        lines.append(f"As your settings say, and not as given here: {', '.join(left)}")
    return "\n".join(lines) or f"There is no MCP server here. {ctx.program} mcp add adds one."


def _absent(ctx: PluginContext, session: Session, name: str, server: ServerSettings) -> str:
    """Say why nobody knows what a server has; without what it was given, as it may have said that itself."""
    from hermes_tool_mcp.pool import pool_of

    one = pool_of(ctx).held_by(session.id).get(name) if "pool" in ctx.state else None
    if one is None or one.alive or not one.why:
        return "it has not answered yet"
    return f"it is not there, and is tried again: {hidden(server, one.why)}"
