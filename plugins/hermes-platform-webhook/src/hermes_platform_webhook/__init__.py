"""Webhooks: what happens elsewhere starts a turn, or is told in a chat."""

from collections.abc import Iterable
from pathlib import Path

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Service
from hermes_core.types import Command, Migration, Routes

__all__ = ["register_cli_commands", "register_migrations", "register_routes", "register_services"]


@hookimpl
def register_migrations(ctx: PluginContext) -> Iterable[Migration]:
    """The tables of subscriptions and deliveries."""
    return [Migration(folder=Path(__file__).with_name("versions"), head="0001")]


@hookimpl
def register_routes(ctx: PluginContext) -> Iterable[Routes]:
    """Where deliveries come in. Anybody may ask; who is heard says a signature."""
    from hermes_platform_webhook.route import Incoming

    return [Routes(name="in", app=Incoming(ctx))]


@hookimpl
def register_services(ctx: PluginContext) -> Iterable[Service]:
    """What makes turns and messages of deliveries that were accepted."""
    from hermes_platform_webhook.ordering import Ordering

    return [Ordering(ctx)]


@hookimpl
def register_cli_commands(ctx: PluginContext) -> Iterable[Command]:
    """``hermes webhook``."""
    from hermes_platform_webhook.commands import commands

    return commands(ctx)
