"""Watches files, pages, feeds and commands, and starts a turn when they change."""

from collections.abc import Iterable
from pathlib import Path

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Service
from hermes_core.types import Command, Migration

__all__ = ["register_cli_commands", "register_migrations", "register_services"]


@hookimpl
def register_migrations(ctx: PluginContext) -> Iterable[Migration]:
    """The tables of what is watched."""
    return [Migration(folder=Path(__file__).with_name("versions"), head="0001")]


@hookimpl
def register_services(ctx: PluginContext) -> Iterable[Service]:
    """What looks, and orders turns."""
    from hermes_tool_watch.watching import Watching

    return [Watching(ctx)]


@hookimpl
def register_cli_commands(ctx: PluginContext) -> Iterable[Command]:
    """``hermes watch``."""
    from hermes_tool_watch.commands import commands

    return commands(ctx)
