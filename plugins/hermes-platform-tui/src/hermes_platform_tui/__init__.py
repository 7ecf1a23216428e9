"""The full-screen terminal, and the same in a browser."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from hermes_core import hookimpl

if TYPE_CHECKING:
    from hermes_core.context import PluginContext
    from hermes_core.kinds import Platform
    from hermes_core.types import Command

__all__ = ["register_cli_commands", "register_platforms"]


@hookimpl
def register_platforms(ctx: "PluginContext") -> "Iterable[Platform]":
    """The terminal this process was started on, as one screen."""
    from hermes_platform_tui.config import Config
    from hermes_platform_tui.platform import Tui

    return [Tui(ctx.config or Config(), ctx)]


@hookimpl
def register_cli_commands(ctx: "PluginContext") -> "Iterable[Command]":
    """``hermes web``."""
    from hermes_core.types import Command
    from hermes_platform_tui.web import build

    return [Command(name="web", build=build)]
