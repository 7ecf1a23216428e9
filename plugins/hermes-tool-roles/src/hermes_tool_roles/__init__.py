"""Says what people other than the owner may do, and spend, wherever they speak."""

from collections.abc import Iterable

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Purse, Roles
from hermes_core.types import Command
from hermes_tool_roles.hearing import admit, on_turn_end, post_llm_call, pre_tool_call

__all__ = ["admit", "on_turn_end", "post_llm_call", "pre_tool_call"]


@hookimpl
def register_roles(ctx: PluginContext) -> Iterable[Roles]:
    """The roles of this home."""
    from hermes_tool_roles.made import roles_of

    return [roles_of(ctx)]


@hookimpl
def register_purses(ctx: PluginContext) -> Iterable[Purse]:
    """What each person may spend in a day, over all places."""
    from hermes_tool_roles.made import purse_of

    return [purse_of(ctx)]


@hookimpl
def register_cli_commands(ctx: PluginContext) -> Iterable[Command]:
    """The command ``roles``."""
    from hermes_tool_roles.command import make_roles

    return [Command(name="roles", build=lambda: make_roles(ctx))]
