"""The slash commands of every conversation: its past, its turns, who answers, how things are."""

from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.types import SlashCommand


@hookimpl
def register_slash_commands(ctx: PluginContext) -> Sequence[SlashCommand]:
    """Those of the table; what one does is imported when it does it."""
    from hermes_tool_commands.table import commands

    return commands(ctx)
