"""Uses the tools of MCP servers as if they were built in."""

from collections.abc import Iterable

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Resource, ToolSource
from hermes_core.types import Session, SessionEnd, ToolCall, Verdict
from hermes_tool_mcp.registering import (
    register_checks,
    register_cli_commands,
    register_services,
    register_slash_commands,
)

__all__ = ["register_checks", "register_cli_commands", "register_services", "register_slash_commands"]


@hookimpl
def register_tool_sources(ctx: PluginContext) -> Iterable[ToolSource]:
    """The tools of each server."""
    from hermes_tool_mcp.tools import make_sources

    return make_sources(ctx)


@hookimpl
def register_resources(ctx: PluginContext) -> Iterable[Resource]:
    """The connections that a session uses."""
    from hermes_tool_mcp.holding import Holding

    return [Holding(ctx)]


@hookimpl
async def on_session_start(ctx: PluginContext, session: Session) -> None:
    """Ask servers that nobody asked yet, for a moment."""
    if ctx.config and ctx.config.servers:
        from hermes_tool_mcp.beginning import asked_for_the_first_time

        await asked_for_the_first_time(ctx, session)


@hookimpl
async def on_session_end(ctx: PluginContext, session: Session, end: SessionEnd) -> None:
    """End what the conversation used."""
    if "served" in ctx.state or "pool" in ctx.state or "open" in ctx.state:
        from hermes_tool_mcp.beginning import let_go

        await let_go(ctx, session)


@hookimpl
async def pre_tool_call(ctx: PluginContext, session: Session, call: ToolCall) -> Verdict | None:
    """Say what one call does."""
    if not call.name.startswith("mcp__"):
        return None
    from hermes_tool_mcp.gate import judged

    return judged(ctx, session, call)
