"""Tells what a change broke, and which files a turn changed."""

from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Jobs, Workspace
from hermes_core.types import Effect, Session, ToolCall, ToolResult, Verdict
from hermes_tool_diagnostics.late import watch_of


@hookimpl
def register_jobs(ctx: PluginContext) -> Sequence[Jobs]:
    """The language servers that are open, for whoever shows and stops what runs beside a conversation."""
    from hermes_tool_diagnostics.keeping import Running

    return [Running(lambda: watch_of(ctx).servers)]


@hookimpl
async def pre_tool_call(
    ctx: PluginContext, session: Session, call: ToolCall, effects: frozenset[Effect], workspace: Workspace,
    touches: Sequence[str] | None,
) -> Verdict | None:  # fmt: skip
    """Keep what the files held that a call will change, and which call runs something."""
    if Effect.EXECUTE in effects:
        if "watch" in ctx.state:
            ctx.state["watch"].runs(session, call)
    elif Effect.WRITE_FILES in effects and touches:
        await watch_of(ctx).before(session, call, workspace, touches)
    return None


@hookimpl(trylast=True)  # after who follows files: what a server says of a file does not make the file another's
async def transform_tool_result(
    ctx: PluginContext, session: Session, call: ToolCall, result: ToolResult, workspace: Workspace, twin: bool
) -> ToolResult | None:
    """Say below the result which problems are new in the files that the call changed."""
    return await ctx.state["watch"].after(session, call, result, workspace, twin=twin) if "watch" in ctx.state else None


@hookimpl
async def may_end(ctx: PluginContext, session: Session) -> Verdict | None:
    """Say which files the turn changed, and where that is set, send it on to check them."""
    return ctx.state["watch"].end(session) if "watch" in ctx.state else None


@hookimpl
async def on_session_end(ctx: PluginContext, session: Session) -> None:
    """End its language servers."""
    if "watch" in ctx.state:
        await ctx.state["watch"].rest(session)
