"""Snapshots the working folder before it is changed, and brings it back."""

from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Workspace
from hermes_core.types import Command, Effect, Envelope, Session, SlashCommand, ToolCall, ToolResult, Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_tool_checkpoints.keeper import Keeper


def _keeper(ctx: PluginContext) -> "Keeper":
    from hermes_tool_checkpoints.keeper import keeper_of

    return keeper_of(ctx)


@hookimpl
def register_slash_commands(ctx: PluginContext) -> Sequence[SlashCommand]:
    """``/rollback``."""
    from hermes_tool_checkpoints.slash import rollback_command

    return [rollback_command(_keeper(ctx).store, _keeper(ctx).notes)]


@hookimpl
def register_cli_commands(ctx: PluginContext) -> Sequence[Command]:
    """``hermes checkpoints …``."""
    from hermes_tool_checkpoints.commands import commands

    return commands(_keeper(ctx).store, _keeper(ctx).notes)


@hookimpl
async def pre_tool_call(  # noqa: D103 - see Keeper
    ctx: PluginContext, session: Session, call: ToolCall, effects: frozenset[Effect], workspace: Workspace
) -> Verdict | None:
    return await _keeper(ctx).before(session, call, effects, workspace) if ctx.config.enabled else None


@hookimpl
async def transform_tool_result(ctx: PluginContext, call: ToolCall, result: ToolResult) -> ToolResult | None:  # noqa: D103
    return _keeper(ctx).noted(call, result) if ctx.config.enabled else None


@hookimpl
async def transform_incoming(ctx: PluginContext, envelope: Envelope, session_id: str) -> Envelope | None:  # noqa: D103
    return _keeper(ctx).notes.add(session_id, envelope) if (ctx.paths.data / "notes").is_dir() else None


@hookimpl
async def post_llm_call(ctx: PluginContext, session: Session) -> None:  # noqa: D103
    if (ctx.paths.data / "notes").is_dir():
        _keeper(ctx).notes.heard(session.id)


@hookimpl
async def on_session_end(ctx: PluginContext, session: Session) -> None:  # noqa: D103
    if ctx.config.enabled:
        await _keeper(ctx).end(session)
