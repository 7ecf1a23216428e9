"""Snapshots the working folder before it is changed, and brings it back."""
# ruff: noqa: D103 - the hooks only pass on to the Keeper

from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Workspace
from hermes_core.types import Command, Effect, Envelope, Session, SlashCommand, ToolCall, ToolResult, Verdict
from hermes_tool_checkpoints.late import keeper_for, made_keeper, rollback_for


@hookimpl
def register_slash_commands(ctx: PluginContext) -> Sequence[SlashCommand]:
    """``/rollback``."""
    return [rollback_for(ctx)]


@hookimpl
def register_cli_commands(ctx: PluginContext) -> Sequence[Command]:
    """``hermes checkpoints …``."""
    from hermes_tool_checkpoints.commands import commands

    return commands(keeper_for(ctx).store, keeper_for(ctx).notes)


@hookimpl
async def pre_tool_call(
    ctx: PluginContext, session: Session, call: ToolCall, effects: frozenset[Effect], workspace: Workspace
) -> Verdict | None:
    changes = ctx.config.enabled and effects & {Effect.WRITE_FILES, Effect.EXECUTE}
    return await keeper_for(ctx).before(session, call, workspace) if changes else None


@hookimpl
async def transform_tool_result(ctx: PluginContext, call: ToolCall, result: ToolResult) -> ToolResult | None:
    keeper = made_keeper(ctx)
    return keeper.noted(call, result) if keeper else None


@hookimpl
async def transform_incoming(ctx: PluginContext, envelope: Envelope, session_id: str) -> Envelope | None:
    return keeper_for(ctx).notes.add(session_id, envelope) if (ctx.paths.data / "notes").is_dir() else None


@hookimpl
async def post_llm_call(ctx: PluginContext, session: Session) -> None:
    if (ctx.paths.data / "notes").is_dir():
        keeper_for(ctx).notes.heard(session.id)


@hookimpl
async def on_session_end(ctx: PluginContext, session: Session) -> None:
    if keeper := made_keeper(ctx):
        await keeper.end(session)
