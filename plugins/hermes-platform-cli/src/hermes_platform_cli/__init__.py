"""The classic terminal conversation."""

from collections.abc import Iterable

from hermes_core import hookimpl
from hermes_core.context import PluginContext
from hermes_core.kinds import Platform

__all__ = ["register_platforms"]


@hookimpl
def register_platforms(ctx: PluginContext) -> Iterable[Platform]:
    """The terminal this process was started on."""
    from hermes_platform_cli.config import Config
    from hermes_platform_cli.platform import Cli

    return [Cli(ctx.config or Config(), ctx.paths.data)]
