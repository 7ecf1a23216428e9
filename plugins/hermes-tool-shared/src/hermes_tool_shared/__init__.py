"""Lets people share folders and memories with each other, by invitation."""

from collections.abc import Iterable
from functools import partial
from pathlib import Path

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Service, Tool
from hermes_core.types import Command, Migration, SlashCommand
from hermes_tool_shared.hearing import on_session_start, pre_llm_call, pre_tool_call, transform_tool_result

__all__ = ["on_session_start", "pre_llm_call", "pre_tool_call", "transform_tool_result"]


@hookimpl
def register_migrations(ctx: PluginContext) -> Iterable[Migration]:
    """The tables of what is shared."""
    return [Migration(folder=Path(__file__).with_name("versions"), head="0001")]


@hookimpl
def register_services(ctx: PluginContext) -> Iterable[Service]:
    """What tells of invitations, and says which folders people reach."""
    from hermes_tool_shared.telling import Sharing

    return [Sharing(ctx)]


@hookimpl
def register_tools(ctx: PluginContext) -> Iterable[Tool]:
    """``shared_memory`` and ``shared_remember``."""
    from hermes_tool_shared.memory import tools

    return tools(ctx)


@hookimpl
def register_slash_commands(ctx: PluginContext) -> Iterable[SlashCommand]:
    """``/share``, ``/unshare`` and ``/shared``."""
    from hermes_tool_shared.slash import slash_commands

    return slash_commands(ctx)


@hookimpl
def register_cli_commands(ctx: PluginContext) -> Iterable[Command]:
    """``hermes shared``."""
    from hermes_tool_shared.command import make_end, make_shared

    return [
        Command(name="shared", build=partial(make_shared, ctx)),
        Command(name="shared end", build=partial(make_end, ctx)),
    ]
