"""Reads, writes, edits, lists and searches files."""

from collections.abc import Iterable

from hermes_core import hookimpl
from hermes_core.context import PluginContext
from hermes_core.kinds import Tool


@hookimpl
def register_tools(ctx: PluginContext) -> Iterable[Tool]:
    """The tools that read, write and find files, and two that are offered where they are of use."""
    from hermes_tool_files.tools import make_tools

    return make_tools(ctx.paths.guarded, ctx.paths.home, ctx.config)
