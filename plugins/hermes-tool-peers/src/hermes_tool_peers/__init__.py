"""Asks the agents of other profiles on this machine, and answers them."""

from collections.abc import Iterable, Sequence

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Tool
from hermes_core.types import Command, Routes, Session, ToolCall, Verdict


@hookimpl
def register_tools(ctx: PluginContext) -> Sequence[Tool]:
    """The tool ``peer``."""
    from hermes_tool_peers.tool import peer_tool

    return [peer_tool(ctx)]


@hookimpl
def register_cli_commands(ctx: PluginContext) -> Iterable[Command]:
    """``hermes peer``."""
    from hermes_tool_peers.commands import commands

    return commands(ctx)


@hookimpl
def register_routes(ctx: PluginContext) -> Iterable[Routes]:
    """Rooms over HTTP."""
    from hermes_tool_peers.route import rooms_route

    return [rooms_route(ctx)]


@hookimpl
async def pre_tool_call(ctx: PluginContext, session: Session, call: ToolCall) -> Verdict | None:
    """Say of a call of the tool that it asks whom the settings name."""
    if call.name != "peer":
        return None
    from hermes_tool_peers.tool import judge

    return judge(ctx, session, call)
