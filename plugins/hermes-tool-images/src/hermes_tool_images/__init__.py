"""Makes pictures from words, and from pictures; videos, where a service for them is set."""

from collections.abc import Sequence

from hermes_core import Tool, hookimpl
from hermes_core.context import PluginContext


@hookimpl
def register_tools(ctx: PluginContext) -> Sequence[Tool]:
    """The tools ``draw`` and ``film``."""
    from hermes_tool_images.tool import draw_tool, film_tool

    return [draw_tool(ctx), film_tool(ctx)]
