"""Your agent for other agents, by the A2A protocol."""

from collections.abc import Iterable
from pathlib import Path

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.types import Migration, Routes


@hookimpl
def register_migrations(ctx: PluginContext) -> Iterable[Migration]:
    """The tables of tasks and of what they were told."""
    return [Migration(folder=Path(__file__).with_name("versions"), head="0001")]


@hookimpl
def register_routes(ctx: PluginContext) -> Iterable[Routes]:
    """The agent, for who has a key; and its card, for anybody."""
    from hermes_platform_a2a.route import WELL_KNOWN, Agent, PublicCard

    return [
        Routes(name="agent", app=Agent(ctx)),
        Routes(name="card", app=PublicCard(ctx, WELL_KNOWN)),
        Routes(name=WELL_KNOWN.rpartition("/")[2], app=PublicCard(ctx)),
    ]
