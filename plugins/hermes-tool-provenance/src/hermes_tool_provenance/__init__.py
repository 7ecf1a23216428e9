"""Knows which files came from outside, and which folders a person trusts."""
# ruff: noqa: D103 - the hooks only pass on to the Calls

from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Opening, Workspace
from hermes_core.types import Command, Effect, Feature, Session, SlashCommand, ToolCall, ToolResult, Verdict
from hermes_tool_provenance import late
from hermes_tool_provenance.late import calls_of, tell_notices


@hookimpl
def register_cli_commands(ctx: PluginContext) -> Sequence[Command]:
    return late.commands_of(ctx)


@hookimpl
def register_slash_commands(ctx: PluginContext) -> Sequence[SlashCommand]:
    return [late.slash_of(ctx)]


@hookimpl
def register_openings(ctx: PluginContext) -> Sequence[Opening]:
    return [late.opening_of(ctx)]


@hookimpl
async def begin_tool_call(
    ctx: PluginContext, session: Session, call: ToolCall, effects: frozenset[Effect], workspace: Workspace,
    outside: bool,
) -> Verdict | None:  # fmt: skip
    here = Feature.LOCAL in workspace.features
    return await calls_of(ctx).begin(session, call, effects, workspace, outside=outside) if here else None


@hookimpl
async def transform_tool_result(
    ctx: PluginContext, session: Session, call: ToolCall, result: ToolResult, workspace: Workspace,
    touches: frozenset[str], twin: bool,
) -> ToolResult | None:  # fmt: skip
    here = Feature.LOCAL in workspace.features
    return await calls_of(ctx).finish(session, call, result, workspace, touches, twin=twin) if here else None


@hookimpl
async def on_session_start(ctx: PluginContext, session: Session) -> None:
    tell_notices(ctx, session)


@hookimpl
async def on_session_deleted(ctx: PluginContext, session: Session) -> None:
    await late.unnamed(ctx, session)


@hookimpl
async def on_turn_end(ctx: PluginContext, session: Session) -> None:
    if "calls" in ctx.state:
        await calls_of(ctx).rest(session)
