"""The classic terminal conversation, and the commands of a terminal beside it."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from hermes_core import hookimpl

if TYPE_CHECKING:
    from hermes_core.context import PluginContext
    from hermes_core.kinds import ConsoleDriver, Platform
    from hermes_core.types import Check, Command

__all__ = ["register_checks", "register_cli_commands", "register_consoles", "register_platforms"]


@hookimpl
def register_platforms(ctx: "PluginContext") -> "Iterable[Platform]":
    """The terminal this process was started on."""
    from hermes_platform_cli.config import Config
    from hermes_platform_cli.platform import Cli

    return [Cli(ctx.config or Config(), ctx.paths.data, program=ctx.program)]


@hookimpl
def register_consoles(ctx: "PluginContext") -> "Iterable[ConsoleDriver]":
    """What drives the console of this terminal, and of any other platform on which somebody waits."""
    from hermes_platform_cli.console.driver import Terminal

    return [Terminal(ctx)]


@hookimpl
def register_cli_commands(ctx: "PluginContext") -> "Iterable[Command]":
    """``chat``, those that look back (``sessions``, …), and those that answer and take back."""
    from hermes_platform_cli.commands import commands

    return commands(ctx)


@hookimpl
def register_checks(ctx: "PluginContext") -> "Iterable[Check]":
    """The terminal, what opens in it, and what runs whenever Python starts."""
    from hermes_platform_cli.checks import checks

    return checks(ctx)
