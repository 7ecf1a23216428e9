"""Keeps the plan of a conversation."""

from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Tool
from hermes_core.types import Session, SlashCommand, Usage, Verdict


@hookimpl
def register_tools(ctx: PluginContext) -> Sequence[Tool]:
    """The tool ``todo``, through which a model keeps its plan."""
    from hermes_tool_todo.store import Plans
    from hermes_tool_todo.tool import todo_tool

    return [todo_tool(Plans(ctx.documents, ctx.paths.data))]


@hookimpl
def register_slash_commands(ctx: PluginContext) -> Sequence[SlashCommand]:
    """``/todo``, which shows the plan to the person."""
    from hermes_tool_todo.store import Plans
    from hermes_tool_todo.tool import todo_command

    return [todo_command(Plans(ctx.documents, ctx.paths.data))]


@hookimpl
async def may_end(ctx: PluginContext, session: Session, answer: str, usage: Usage) -> Verdict | None:
    """Not yet, where the turn leaves its own plan open and nobody is there to say "go on"."""
    if usage.calls < 2:  # it called no tool, so it changed no plan
        return None
    from hermes_tool_todo.finish import unfinished
    from hermes_tool_todo.store import Plans

    return await unfinished(Plans(ctx.documents, ctx.paths.data), ctx.config, session, answer)
