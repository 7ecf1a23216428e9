"""Keeps the plan of a conversation."""

from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Tool
from hermes_core.types import SlashCommand


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
