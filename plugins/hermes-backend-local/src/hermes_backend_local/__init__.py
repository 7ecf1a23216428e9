"""Runs commands on this machine."""

from collections.abc import Iterable

from hermes_core import hookimpl
from hermes_core.context import PluginContext
from hermes_core.kinds import Backend
from hermes_core.types import Check, Command, Finding


@hookimpl
def register_backends(ctx: PluginContext) -> Iterable[Backend]:
    """The backend ``local``."""
    from hermes_backend_local.backend import local

    return [local(ctx)]


@hookimpl
def register_cli_commands(ctx: PluginContext) -> Iterable[Command]:
    """The command ``walls``."""
    from hermes_backend_local.command import make_walls

    return [Command(name="walls", build=lambda: make_walls(ctx))]


@hookimpl
def register_checks(ctx: PluginContext) -> Iterable[Check]:
    """Which wall holds around commands, and what a few of them, or all, could not do there."""
    from hermes_backend_local.checks import findings

    async def run() -> list[Finding]:
        return await findings(ctx)

    async def full() -> list[Finding]:
        return await findings(ctx, full=True)

    return [Check(name="walls", run=run, full=full)]
