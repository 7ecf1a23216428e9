"""Keeps the lists of models fresh: names, windows and prices, also for when nobody can be asked."""

from collections.abc import Iterable

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Service
from hermes_core.types import Command

__all__ = ["register_cli_commands", "register_services"]


@hookimpl
def register_services(ctx: PluginContext) -> Iterable[Service]:
    """Give what asks, in idle time."""
    from hermes_tool_catalogue.service import Catalogue

    return [Catalogue(ctx)]


@hookimpl
def register_cli_commands(ctx: PluginContext) -> Iterable[Command]:
    """Give ``hermes model refresh``."""
    from hermes_tool_catalogue.commands import commands

    return commands(ctx)
