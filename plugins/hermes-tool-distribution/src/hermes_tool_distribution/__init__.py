"""Starts products on Hermes, and renews them."""

from collections.abc import Iterable

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.types import Command


@hookimpl
def register_cli_commands(ctx: PluginContext) -> Iterable[Command]:
    """``hermes distribution``."""
    from hermes_tool_distribution import commands

    return [
        Command(name="distribution new", build=lambda: commands.make_new(ctx)),
        Command(name="distribution check", build=lambda: commands.make_check(ctx)),
        Command(name="distribution update", build=lambda: commands.make_update(ctx)),
    ]
