"""Your conversations, chats and approvals for any MCP client."""

from collections.abc import Iterable, Sequence
from functools import partial

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Provider
from hermes_core.types import Command, Routes


@hookimpl
def register_routes(ctx: PluginContext) -> Iterable[Routes]:
    """Streamable HTTP, on whatever serves HTTP in this Hermes."""
    from hermes_platform_mcp_serve.route import Streamable

    return [Routes(name="mcp", app=Streamable(ctx))]


@hookimpl
def register_providers(ctx: PluginContext) -> Iterable[Provider]:
    """Who makes the calls of clients, as turns."""
    from hermes_platform_mcp_serve.play import Play

    return [Play()]


@hookimpl
def register_cli_commands(ctx: PluginContext) -> Sequence[Command]:
    """``hermes mcp-serve``, by both of its names."""
    from hermes_platform_mcp_serve.command import build

    return [
        Command(name="mcp-serve", build=partial(build, ctx, "mcp-serve")),
        Command(name="mcp serve", build=partial(build, ctx, "serve")),
    ]
