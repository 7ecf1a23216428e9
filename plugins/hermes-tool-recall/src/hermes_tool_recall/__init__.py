"""Searches past conversations."""

from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Tool


@hookimpl
def register_tools(ctx: PluginContext) -> Sequence[Tool]:
    """The tool ``recall``."""
    from hermes_tool_recall.tool import recall_tool

    return [recall_tool(ctx.sessions)]
