"""Runs prompts and commands at their times: one row for every instant, whatever became of it."""

from collections.abc import Iterable

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Tool
from hermes_core.types import Command, Session, SlashCommand, ToolCall, Verdict
from hermes_tool_cron.registering import (
    register_migrations,
    register_providers,
    register_routes,
    register_services,
)

__all__ = ["register_migrations", "register_providers", "register_routes", "register_services"]


@hookimpl
def register_tools(ctx: PluginContext) -> Iterable[Tool]:
    """The tool ``cron``."""
    from hermes_tool_cron.tool import cron_tool

    return [cron_tool(ctx)]


@hookimpl
def register_slash_commands(ctx: PluginContext) -> Iterable[SlashCommand]:
    """``/cron``."""
    from hermes_tool_cron.slash import slash_command

    return [slash_command(ctx)]


@hookimpl
def register_cli_commands(ctx: PluginContext) -> Iterable[Command]:
    """``hermes cron`` and what is below it."""
    from hermes_tool_cron.commands import commands

    return commands(ctx)


@hookimpl
async def pre_tool_call(ctx: PluginContext, session: Session, call: ToolCall) -> Verdict | None:
    """Say of a call of the tool what it really does: a look plans nothing."""
    if call.name != "cron":
        return None
    from hermes_tool_cron.gate import judge

    return judge(call)
