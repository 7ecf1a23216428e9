"""An OpenAI-compatible HTTP API."""

from collections.abc import Iterable
from functools import partial

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Platform, ToolSource
from hermes_core.types import Command

__all__ = ["register_cli_commands", "register_platforms", "register_tool_sources"]


@hookimpl
def register_platforms(ctx: PluginContext) -> Iterable[Platform]:
    """The server; it listens from ``open`` to ``close``."""
    from hermes_platform_api.platform import Api

    return [Api(ctx)]


@hookimpl
def register_tool_sources(ctx: PluginContext) -> Iterable[ToolSource]:
    """What clients run themselves, while a turn of theirs goes on."""
    from hermes_platform_api.client_tools import make_source

    return [make_source(ctx)]


@hookimpl
def register_cli_commands(ctx: PluginContext) -> Iterable[Command]:
    """``hermes api``."""
    from hermes_platform_api.command import build

    return [Command(name="api", build=partial(build, ctx))]
