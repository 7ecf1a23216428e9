"""The classic terminal conversation, and the commands of a terminal beside it."""

from collections.abc import Iterable

from hermes_core import hookimpl
from hermes_core.context import PluginContext
from hermes_core.kinds import Host, Platform
from hermes_core.types import Command

__all__ = ["register_cli_commands", "register_hosts", "register_platforms"]


@hookimpl
def register_platforms(ctx: PluginContext) -> Iterable[Platform]:
    """The terminal this process was started on."""
    from hermes_platform_cli.config import Config
    from hermes_platform_cli.platform import Cli

    return [Cli(ctx.config or Config(), ctx.paths.data)]


@hookimpl
def register_hosts(ctx: PluginContext) -> Iterable[Host]:
    """What carries the conversations of this terminal, and of any other platform on which somebody waits."""
    from hermes_platform_cli.console.host import TerminalHost

    return [TerminalHost(ctx)]


@hookimpl
def register_cli_commands(ctx: PluginContext) -> Iterable[Command]:
    """Those that look back (``sessions``, ``why``, …), and those that answer and take back."""
    from hermes_platform_cli.commands import commands

    return commands(ctx)
