"""Runs Python that calls tools."""

from collections.abc import Iterable, Sequence

from hermes_core import hookimpl
from hermes_core.context import PluginContext
from hermes_core.kinds import Resource, Tool
from hermes_core.types import Check


@hookimpl
def register_tools(ctx: PluginContext) -> Iterable[Tool]:
    """The tool ``execute_code``."""
    from hermes_tool_python.tool import make_tool

    return [make_tool(ctx)]


@hookimpl
def register_resources(ctx: PluginContext) -> Iterable[Resource]:
    """The interpreter of each session that keeps its variables."""
    from hermes_tool_python.lasting import Interpreters

    return [Interpreters(ctx)]


@hookimpl
def register_checks(ctx: PluginContext) -> Sequence[Check]:
    """Whether the small Python runs."""
    from hermes_tool_python.checks import checks
    from hermes_tool_python.config import Config

    return checks(ctx.paths.data, ctx.config or Config())
