"""Brings along what another agent knows of you."""

from collections.abc import Iterable

from hermes_core import hookimpl
from hermes_core.context import PluginContext
from hermes_core.types import Command


@hookimpl
def register_cli_commands(ctx: PluginContext) -> Iterable[Command]:
    """``hermes migrate hermes-agent|openclaw|claude-code|codex``."""
    from hermes_tool_migrate.commands import commands

    return commands(ctx)
