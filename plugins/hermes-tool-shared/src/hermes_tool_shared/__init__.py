"""Lets people share folders and memories with each other, by invitation."""

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Service, Tool, Workspace
from hermes_core.types import (
    Command,
    Effect,
    Migration,
    Request,
    Session,
    SlashCommand,
    ToolCall,
    ToolResult,
    Verdict,
)


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


@hookimpl
async def on_session_start(ctx: PluginContext, session: Session) -> None:
    """Look up whether its person shares anything, by which the tools are offered."""
    from hermes_tool_shared.people import is_known

    await is_known(ctx, session.owner)


@hookimpl
async def pre_llm_call(ctx: PluginContext, session: Session, request: Request) -> Request | None:
    """Tell a model what its person shares with others."""
    from hermes_tool_shared.memory import noted

    return await noted(ctx, session, request)


@hookimpl
async def pre_tool_call(
    ctx: PluginContext,
    session: Session,
    call: ToolCall,
    effects: frozenset[Effect],
    workspace: Workspace,
    walled: bool,
    touches: Sequence[str] | None,
) -> Verdict | None:
    """Keep calls in shared folders to what was shared."""
    from hermes_tool_shared.gate import judge

    return await judge(ctx, session, call, effects, workspace, walled=walled, touches=touches)


@hookimpl
async def transform_tool_result(
    ctx: PluginContext, session: Session, result: ToolResult, workspace: Workspace, touches: frozenset[str]
) -> ToolResult | None:
    """Mark what others may have written."""
    from hermes_tool_shared.gate import marked

    return await marked(ctx, session, result, workspace, touches)
