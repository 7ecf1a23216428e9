"""Reads the notes that a project keeps for agents (AGENTS.md and the like)."""

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Workspace
from hermes_core.types import Prompt, Session, ToolCall, ToolResult


@hookimpl
async def transform_prompt(ctx: PluginContext, session: Session, prompt: Prompt) -> Prompt | None:
    """Put the project's notes into the prompt, once per session."""
    if not ctx.config.enabled or not session.cwd:
        return None
    from hermes_tool_context_files.project import with_notes

    return await with_notes(ctx, session, prompt)


@hookimpl
async def transform_tool_result(
    ctx: PluginContext, session: Session, call: ToolCall, result: ToolResult, workspace: Workspace
) -> ToolResult | None:
    """Add the notes of a folder to the first result that comes from there."""
    if not (ctx.config.enabled and ctx.config.hints) or result.failed:
        return None
    from hermes_tool_context_files.hints import with_hint

    return await with_hint(ctx, session, call, result, workspace)
