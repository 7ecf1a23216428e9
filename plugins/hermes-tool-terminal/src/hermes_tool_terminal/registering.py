"""What the plugin contributes."""

from collections.abc import Iterable

from hermes_core import hookimpl
from hermes_core.context import PluginContext
from hermes_core.kinds import Jobs, Resource, Service, Tool

__all__ = ["register_jobs", "register_resources", "register_services", "register_tools"]


@hookimpl
def register_tools(ctx: PluginContext) -> Iterable[Tool]:
    """The tools ``terminal`` and ``process``."""
    from hermes_tool_terminal.process import make_process
    from hermes_tool_terminal.terminal import make_terminal

    return [make_terminal(ctx), make_process(ctx)]


@hookimpl
def register_resources(ctx: PluginContext) -> Iterable[Resource]:
    """The shell of each session, and its processes."""
    from hermes_tool_terminal.processes import Kept
    from hermes_tool_terminal.shell import Shells

    return [Shells(ctx.paths.data), Kept(ctx)]


@hookimpl
def register_jobs(ctx: PluginContext) -> Iterable[Jobs]:
    """The processes, for whoever shows and stops what runs beside a conversation."""
    from hermes_tool_terminal.jobs import Background

    return [Background(ctx)]


@hookimpl
def register_services(ctx: PluginContext) -> Iterable[Service]:
    """The service ``processes``, which looks for those whose Hermes died."""
    from hermes_tool_terminal.ends import Ends

    return [Ends(ctx)]
