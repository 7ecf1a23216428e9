"""The hooks that are called while people speak: each leads to the part that answers it."""

from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Workspace
from hermes_core.types import Effect, Request, Session, ToolCall, ToolResult, Verdict

__all__ = ["on_session_start", "pre_llm_call", "pre_tool_call", "transform_tool_result"]


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

    if workspace.also and Effect.EXECUTE in effects:
        from hermes_tool_shared.closing import remember

        await remember(ctx, session, workspace)
    return await judge(ctx, session, call, effects, workspace, walled=walled, touches=touches)


@hookimpl
async def transform_tool_result(
    ctx: PluginContext,
    session: Session,
    call: ToolCall,
    result: ToolResult,
    workspace: Workspace,
    touches: frozenset[str],
) -> ToolResult | None:
    """Mark what others may have written."""
    from hermes_tool_shared.gate import marked

    return await marked(ctx, session, call, result, workspace, touches)
