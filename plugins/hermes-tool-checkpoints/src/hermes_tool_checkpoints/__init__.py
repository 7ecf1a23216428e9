"""Snapshots the working folder before it is changed, and brings it back."""
# ruff: noqa: D103 - the hooks only pass on to the Snapshots

from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Service, Workspace
from hermes_core.types import Check, Command, Effect, Envelope, Session, SlashCommand, ToolCall, ToolResult, Verdict
from hermes_tool_checkpoints import late
from hermes_tool_checkpoints.erasing import on_session_deleted as on_session_deleted


@hookimpl
def register_slash_commands(ctx: PluginContext) -> Sequence[SlashCommand]:
    return [late.rollback_for(ctx)]


@hookimpl
def register_cli_commands(ctx: PluginContext) -> Sequence[Command]:
    return late.commands_for(ctx)


@hookimpl
def register_services(ctx: PluginContext) -> Sequence[Service]:
    return [late.tidying_for(ctx)]


@hookimpl
def register_checks(ctx: PluginContext) -> Sequence[Check]:
    return [late.last_tidying_for(ctx)]


@hookimpl
async def pre_tool_call(
    ctx: PluginContext, session: Session, call: ToolCall, effects: frozenset[Effect], workspace: Workspace
) -> Verdict | None:
    changes = ctx.config.enabled and effects & {Effect.WRITE_FILES, Effect.EXECUTE}
    return await late.snapshots_for(ctx).before(session, call, workspace) if changes else None


@hookimpl
async def transform_tool_result(ctx: PluginContext, call: ToolCall, result: ToolResult) -> ToolResult | None:
    return snapshots.noted(call, result) if (snapshots := late.made_snapshots(ctx)) else None


@hookimpl
async def transform_incoming(ctx: PluginContext, envelope: Envelope, session_id: str) -> Envelope | None:
    return late.snapshots_for(ctx).notes.add(session_id, envelope) if (ctx.paths.data / "notes").is_dir() else None


@hookimpl
async def post_llm_call(ctx: PluginContext, session: Session) -> None:
    if (ctx.paths.data / "notes").is_dir():
        late.snapshots_for(ctx).notes.answered(session.id)


@hookimpl
async def on_session_end(ctx: PluginContext, session: Session) -> None:
    await late.ended(ctx, session)
