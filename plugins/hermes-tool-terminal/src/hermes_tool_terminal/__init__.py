"""Runs shell commands."""

from collections.abc import Iterable

from hermes_core import hookimpl
from hermes_core.context import PluginContext
from hermes_core.kinds import Resource, Tool


@hookimpl
def register_tools(ctx: PluginContext) -> Iterable[Tool]:
    """The tool ``terminal``."""
    from hermes_tool_terminal.terminal import make_terminal

    return [make_terminal(ctx)]


@hookimpl
def register_resources(ctx: PluginContext) -> Iterable[Resource]:
    """The shell of each session."""
    from hermes_tool_terminal.shell import Shells

    return [Shells(ctx.paths.data)]
