"""Knows which files came from outside, and which folders a person trusts."""
# ruff: noqa: D103 - the hooks only pass on to the Calls

from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Opening, Workspace
from hermes_core.types import Command, Effect, Feature, Session, SlashCommand, ToolCall, ToolResult, Verdict
from hermes_tool_provenance.late import asked_in, calls_of, ledger_of, tell_notices


@hookimpl
def register_cli_commands(ctx: PluginContext) -> Sequence[Command]:
    from hermes_tool_provenance.commands import commands

    return commands(ledger_of(ctx))


@hookimpl
def register_slash_commands(ctx: PluginContext) -> Sequence[SlashCommand]:
    from hermes_tool_provenance.slash import trust_command

    return [trust_command(ledger_of(ctx))]


@hookimpl
def register_openings(ctx: PluginContext) -> Sequence[Opening]:
    from hermes_tool_provenance.opening import Known

    return [Known(lambda: ledger_of(ctx), asked_in(ctx))]


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
async def on_turn_end(ctx: PluginContext, session: Session) -> None:
    if "calls" in ctx.state:
        await calls_of(ctx).rest(session)
