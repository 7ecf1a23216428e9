"""Keeps copies of the home that can be verified and brought back."""

from collections.abc import Iterable

from hermes_core import hookimpl
from hermes_core.context import PluginContext
from hermes_core.kinds import Service
from hermes_core.types import Check, Command


@hookimpl
def register_cli_commands(ctx: PluginContext) -> Iterable[Command]:
    """``hermes backup create|list|verify|restore``, and ``hermes profile …``: list, create, use, export and more."""
    from hermes_tool_backup.commands import commands
    from hermes_tool_backup.profiles import profile_commands

    return [*commands(ctx), *profile_commands(ctx)]


@hookimpl
def register_services(ctx: PluginContext) -> Iterable[Service]:
    """The service ``backup``, which makes a copy whenever one is due."""
    from hermes_tool_backup.service import Copying

    return [Copying(ctx)]


@hookimpl
def register_checks(ctx: PluginContext) -> Iterable[Check]:
    """When the last copy was made, and a restore that was cut off."""
    from hermes_tool_backup.service import last_copy

    return [last_copy(ctx)]
