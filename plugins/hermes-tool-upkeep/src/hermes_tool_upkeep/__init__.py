"""Keeps the store sound and small, and moves it."""

from collections.abc import Iterable

from hermes_core import hookimpl
from hermes_core.context import PluginContext
from hermes_core.kinds import Service
from hermes_core.types import Check, Command, SlashCommand


@hookimpl
def register_cli_commands(ctx: PluginContext) -> Iterable[Command]:
    """``hermes store check|repair|reindex|compact|rebuild|move|erase``."""
    from hermes_tool_upkeep.commands import commands

    return commands(ctx)


@hookimpl
def register_slash_commands(ctx: PluginContext) -> Iterable[SlashCommand]:
    """``/export`` and ``/forget me``, for the people of chats."""
    from hermes_tool_upkeep.slash import slash_commands

    return slash_commands(ctx)


@hookimpl
def register_services(ctx: PluginContext) -> Iterable[Service]:
    """The service ``upkeep``, which looks at the store when a gateway starts, and tidies it in idle time."""
    from hermes_tool_upkeep.service import Upkeep

    return [Upkeep(ctx)]


@hookimpl
def register_checks(ctx: PluginContext) -> Iterable[Check]:
    """Whether the store is sound: a quick look each time, the whole of it with ``--deep`` and ``--store``."""
    from hermes_tool_upkeep.service import checks

    return checks(ctx)
