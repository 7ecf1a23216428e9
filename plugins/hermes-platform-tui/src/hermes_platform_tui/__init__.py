"""The full-screen terminal."""

from collections.abc import Iterable

from hermes_core import hookimpl
from hermes_core.context import PluginContext
from hermes_core.kinds import Platform

__all__ = ["register_platforms"]


@hookimpl
def register_platforms(ctx: PluginContext) -> Iterable[Platform]:
    """The terminal this process was started on, as one screen."""
    from hermes_platform_tui.config import Config
    from hermes_platform_tui.platform import Tui

    return [Tui(ctx.config or Config(), ctx)]
