"""Tells other services, phones and mailboxes what happened here. What a gateway plays is told."""

from collections.abc import Iterable
from pathlib import Path

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Service
from hermes_core.types import Command, Migration
from hermes_tool_events.hearing import on_gateway_start, on_turn_end, on_turn_start

__all__ = ["on_gateway_start", "on_turn_end", "on_turn_start"]


@hookimpl
def register_migrations(ctx: PluginContext) -> Iterable[Migration]:
    """The tables of what is to be told."""
    return [Migration(folder=Path(__file__).with_name("versions"), head="0001")]


@hookimpl
def register_services(ctx: PluginContext) -> Iterable[Service]:
    """What tells it, again and again where that fails."""
    from hermes_tool_events.telling import Telling

    return [Telling(ctx)]


@hookimpl
def register_cli_commands(ctx: PluginContext) -> Iterable[Command]:
    """``hermes events``."""
    from hermes_tool_events.commands import commands

    return commands(ctx)
