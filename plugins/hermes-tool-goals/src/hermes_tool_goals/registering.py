"""What the plugin has that no conversation shows: tables, what keeps goals going, who plays checks, commands."""

from collections.abc import Iterable
from pathlib import Path

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Jobs, Provider, Service
from hermes_core.types import Command, Migration, Routes, SlashCommand

__all__ = [
    "register_cli_commands",
    "register_jobs",
    "register_migrations",
    "register_providers",
    "register_routes",
    "register_services",
    "register_slash_commands",
]


@hookimpl
def register_migrations(ctx: PluginContext) -> Iterable[Migration]:
    """The tables of goals, their rounds and the evidence."""
    return [Migration(folder=Path(__file__).with_name("versions"), head="0001")]


@hookimpl
def register_services(ctx: PluginContext) -> Iterable[Service]:
    """What goes on with goals where nobody sits at a terminal."""
    from hermes_tool_goals.service import Keeper

    return [Keeper(ctx)]


@hookimpl
def register_providers(ctx: PluginContext) -> Iterable[Provider]:
    """Who answers for a check or a report that needs no model."""
    from functools import partial

    from hermes_tool_goals.playing import Playing
    from hermes_tool_goals.shared import goals_of

    return [Playing(partial(goals_of, ctx))]


@hookimpl
def register_jobs(ctx: PluginContext) -> Iterable[Jobs]:
    """The goal of a conversation, as what runs beside it."""
    from hermes_tool_goals.jobs import Pursued

    return [Pursued(ctx)]


@hookimpl
def register_routes(ctx: PluginContext) -> Iterable[Routes]:
    """Goals over HTTP."""
    from hermes_tool_goals.route import goals_route

    return [goals_route(ctx)]


@hookimpl
def register_slash_commands(ctx: PluginContext) -> Iterable[SlashCommand]:
    """``/goal`` and ``/loop``."""
    from hermes_tool_goals.slash import slash_commands

    return slash_commands(ctx)


@hookimpl
def register_cli_commands(ctx: PluginContext) -> Iterable[Command]:
    """``hermes goal`` and what is below it."""
    from hermes_tool_goals.commands import commands

    return commands(ctx)
