"""What the plugin has that no turn shows: tables, what keeps reviews going, commands."""

from collections.abc import Iterable
from pathlib import Path

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Service
from hermes_core.types import Command, Migration, SlashCommand

__all__ = ["register_cli_commands", "register_migrations", "register_services", "register_slash_commands"]


@hookimpl
def register_migrations(ctx: PluginContext) -> Iterable[Migration]:
    """The tables of lessons, their versions, the ledger and the reviews."""
    return [Migration(folder=Path(__file__).with_name("versions"), head="0002")]


@hookimpl
def register_services(ctx: PluginContext) -> Iterable[Service]:
    """What reviews conversations where nobody sits at a terminal."""
    from hermes_tool_lessons.service import Keeper

    return [Keeper(ctx)]


@hookimpl
def register_slash_commands(ctx: PluginContext) -> Iterable[SlashCommand]:
    """``/learned``."""
    from hermes_tool_lessons.slash import slash_commands

    return slash_commands(ctx)


@hookimpl
def register_cli_commands(ctx: PluginContext) -> Iterable[Command]:
    """``hermes learned`` and what is below it."""
    from hermes_tool_lessons.commands import commands

    return commands(ctx)
