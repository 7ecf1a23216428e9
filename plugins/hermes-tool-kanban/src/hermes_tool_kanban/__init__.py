"""Boards on which several agents share work: each task is claimed once, and what it waits for is done before it."""

from collections.abc import Iterable

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.types import Command, SlashCommand
from hermes_tool_kanban.registering import (
    register_migrations,
    register_routes,
    register_services,
    register_tool_sources,
)

__all__ = ["register_migrations", "register_routes", "register_services", "register_tool_sources"]


@hookimpl
def register_slash_commands(ctx: PluginContext) -> Iterable[SlashCommand]:
    """``/kanban``."""
    from hermes_tool_kanban.slash import slash_command

    return [slash_command(ctx)]


@hookimpl
def register_cli_commands(ctx: PluginContext) -> Iterable[Command]:
    """``hermes kanban`` and what is below it."""
    from hermes_tool_kanban.commands import commands

    return commands(ctx)
