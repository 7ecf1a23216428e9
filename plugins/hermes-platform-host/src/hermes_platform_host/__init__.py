"""One host of a home, and many terminals that use it."""

from collections.abc import Iterable

from hermes_core import hookimpl
from hermes_core.context import PluginContext
from hermes_core.kinds import Service
from hermes_core.types import Check, Command

__all__ = ["register_checks", "register_cli_commands", "register_services"]


@hookimpl
def register_services(ctx: PluginContext) -> Iterable[Service]:
    """What listens to terminals, in a gateway."""
    from hermes_platform_host.serving import Serving

    return [Serving(ctx)]


@hookimpl
def register_cli_commands(ctx: PluginContext) -> Iterable[Command]:
    """``hermes attach`` and ``hermes host``."""
    from hermes_platform_host.commands import commands

    return commands(ctx)


@hookimpl
def register_checks(ctx: PluginContext) -> Iterable[Check]:
    """Whether a host runs, and whether it serves this terminal."""
    from hermes_platform_host.checks import checks

    return checks(ctx)
