"""Runs prompts and commands at their times: one row for every instant, whatever became of it."""

from collections.abc import Iterable
from pathlib import Path

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Provider, Service, Tool
from hermes_core.types import Command, Migration, Routes, Session, SlashCommand, ToolCall, Verdict


@hookimpl
def register_migrations(ctx: PluginContext) -> Iterable[Migration]:
    """The tables of jobs and of their instants."""
    return [Migration(folder=Path(__file__).with_name("versions"), head="0001")]


@hookimpl
def register_services(ctx: PluginContext) -> Iterable[Service]:
    """What looks at the clock."""
    from hermes_tool_cron.ticker import Ticker

    return [Ticker(ctx)]


@hookimpl
def register_providers(ctx: PluginContext) -> Iterable[Provider]:
    """Who answers for a script that needs no model."""
    from hermes_tool_cron.script import Script

    return [Script()]


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
def register_routes(ctx: PluginContext) -> Iterable[Routes]:
    """The jobs over HTTP."""
    from hermes_tool_cron.route import jobs_route

    return [jobs_route(ctx)]


@hookimpl
async def pre_tool_call(ctx: PluginContext, session: Session, call: ToolCall) -> Verdict | None:
    """Say of a call of the tool what it really does: a look plans nothing."""
    if call.name != "cron":
        return None
    from hermes_tool_cron.gate import judge

    return judge(call)
