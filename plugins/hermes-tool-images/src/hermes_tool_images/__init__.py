"""Makes pictures from words, and from pictures."""

from collections.abc import Sequence

from hermes_core import Tool, hookimpl
from hermes_core.context import PluginContext


@hookimpl
def register_tools(ctx: PluginContext) -> Sequence[Tool]:
    """The tool ``draw``."""
    from hermes_tool_images.tool import draw_tool

    return [draw_tool(ctx)]
