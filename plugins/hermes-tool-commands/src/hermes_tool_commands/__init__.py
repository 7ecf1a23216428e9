"""The slash commands of every conversation: its past, its turns, who answers, how things are."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.types import Command, SlashCommand

if TYPE_CHECKING:
    import click


@hookimpl
def register_slash_commands(ctx: PluginContext) -> Sequence[SlashCommand]:
    """Those of the table; what one does is imported when it does it."""
    from hermes_tool_commands.table import commands

    return commands(ctx)


@hookimpl
def register_cli_commands(ctx: PluginContext) -> Sequence[Command]:
    """``hermes why``."""

    def why() -> "click.Command":
        from hermes_tool_commands.why import make_why

        return make_why(ctx)

    return [Command(name="why", build=why)]
