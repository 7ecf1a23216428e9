"""Asks agents elsewhere, by the A2A protocol."""

from collections.abc import Iterable, Sequence

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Tool
from hermes_core.types import Command, Session, ToolCall, Verdict


@hookimpl
def register_tools(ctx: PluginContext) -> Sequence[Tool]:
    """The tool ``ask_agent``."""
    from hermes_tool_a2a.tool import ask_tool

    return [ask_tool(ctx)]


@hookimpl
def register_cli_commands(ctx: PluginContext) -> Iterable[Command]:
    """``hermes a2a``."""
    from hermes_tool_a2a.commands import commands

    return commands(ctx)


@hookimpl
async def pre_tool_call(ctx: PluginContext, session: Session, call: ToolCall) -> Verdict | None:
    """Say of a call of the tool that its agent may be asked without a yes."""
    if call.name != "ask_agent":
        return None
    from hermes_tool_a2a.tool import judge

    return judge(ctx, session, call)
