"""Fetches web pages as readable text."""

from collections.abc import Iterable

from hermes_core import hookimpl
from hermes_core.context import PluginContext
from hermes_core.kinds import Tool


@hookimpl
def register_tools(ctx: PluginContext) -> Iterable[Tool]:
    """The tool ``web_fetch``."""
    from hermes_tool_web.tool import make_tool

    return [make_tool(ctx)]
