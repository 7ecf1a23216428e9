"""What the plugin has that no conversation shows: tables, the clock, who plays scripts, routes."""

from collections.abc import Iterable
from pathlib import Path

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Provider, Service
from hermes_core.types import Migration, Routes

__all__ = ["register_migrations", "register_providers", "register_routes", "register_services"]


@hookimpl
def register_migrations(ctx: PluginContext) -> Iterable[Migration]:
    """The tables of jobs and of their instants."""
    return [Migration(folder=Path(__file__).with_name("versions"), head="0001")]


@hookimpl
def register_services(ctx: PluginContext) -> Iterable[Service]:
    """What looks at the clock."""
    from hermes_tool_cron.ticker import Ticker

    return [Ticker(ctx)]


@hookimpl
def register_providers(ctx: PluginContext) -> Iterable[Provider]:
    """Who answers for a script that needs no model."""
    from hermes_tool_cron.script import Script

    return [Script()]


@hookimpl
def register_routes(ctx: PluginContext) -> Iterable[Routes]:
    """The jobs over HTTP."""
    from hermes_tool_cron.route import jobs_route

    return [jobs_route(ctx)]
