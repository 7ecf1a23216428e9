"""Hermes in an editor, over the Agent Client Protocol."""

from collections.abc import Iterable
from functools import partial

from hermes_core import hookimpl
from hermes_core.context import PluginContext
from hermes_core.kinds import Workspace
from hermes_core.types import Command, Effects, Session, ToolCall, ToolResult, Verdict

__all__ = ["begin_tool_call", "register_cli_commands", "transform_tool_result"]


@hookimpl
def register_cli_commands(ctx: PluginContext) -> Iterable[Command]:
    """``hermes acp``."""
    from hermes_platform_acp.command import build

    return [Command(name="acp", build=partial(build, ctx))]


@hookimpl
async def begin_tool_call(
    ctx: PluginContext, session: Session, call: ToolCall, effects: Effects, workspace: Workspace
) -> Verdict | None:
    """Have an editor save what a call is about to change."""
    if session.id not in ctx.state.get("open", {}):
        return None
    from hermes_platform_acp.watching import before

    return await before(ctx.state["open"][session.id], call, effects, workspace)


@hookimpl
async def transform_tool_result(
    ctx: PluginContext, session: Session, call: ToolCall, result: ToolResult, workspace: Workspace,
    looks: bool, touches: frozenset[str],
) -> ToolResult | None:  # fmt: skip
    """Say what of a file is not saved in an editor, and show it there what became of one."""
    if session.id not in ctx.state.get("open", {}):
        return None
    from hermes_platform_acp.watching import after

    return await after(ctx.state["open"][session.id], call, result, workspace, looked=touches if looks else None)
