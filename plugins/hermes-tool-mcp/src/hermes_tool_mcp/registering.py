"""What the plugin gives beside its tools and connections."""

from collections.abc import Iterable, Sequence

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Service
from hermes_core.types import Check, Command, SlashCommand

__all__ = ["register_checks", "register_cli_commands", "register_services", "register_slash_commands"]


@hookimpl
def register_services(ctx: PluginContext) -> Iterable[Service]:
    """What keeps the list of each server."""
    from hermes_tool_mcp.known import servers_of
    from hermes_tool_mcp.service import Keeping

    return [Keeping(ctx, name, one) for name, one in servers_of(ctx).items()]


@hookimpl
def register_cli_commands(ctx: PluginContext) -> Sequence[Command]:
    """``hermes mcp …``."""
    from hermes_tool_mcp.commands import commands

    return commands(ctx)


@hookimpl
def register_slash_commands(ctx: PluginContext) -> Sequence[SlashCommand]:
    """The servers of a conversation, and the prompts of servers."""
    from hermes_tool_mcp.own_servers import own_servers
    from hermes_tool_mcp.slash import slash_commands

    return [*own_servers(ctx), *slash_commands(ctx)]


@hookimpl
def register_checks(ctx: PluginContext) -> Sequence[Check]:
    """Whether the servers answer."""
    from hermes_tool_mcp.checks import checks

    return checks(ctx)
