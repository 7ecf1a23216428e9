"""The hooks that are called during a session: before something is remembered, and when a prompt is made."""

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.types import Prompt, Session, ToolCall, Verdict

__all__ = ["pre_tool_call", "transform_prompt"]


@hookimpl
async def pre_tool_call(ctx: PluginContext, session: Session, call: ToolCall) -> Verdict | None:
    """Ask before something is remembered that a tool gave and the person never said."""
    if call.name != "memory" or (ctx.config and ctx.config.approval):  # then a person decides about all of it
        return None
    from hermes_memory_files.borrowed import judge

    return await judge(ctx.sessions, session, call)


@hookimpl
async def transform_prompt(ctx: PluginContext, session: Session, prompt: Prompt) -> Prompt | None:
    """Say who the person is where another memory is in use, too."""
    if session.origin == "child" or "memory" in prompt.tools or "memory" not in prompt.tools.values():
        return None
    from hermes_memory_files.memory import FilesMemory

    return FilesMemory.of(ctx).with_profile(session, prompt)
