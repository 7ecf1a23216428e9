"""Has other agents work, over the Agent Client Protocol."""

from collections.abc import Iterable

from hermes_core import hookimpl
from hermes_core.context import PluginContext
from hermes_core.kinds import Jobs, Tool

__all__ = ["register_jobs", "register_tools"]


@hookimpl
def register_tools(ctx: PluginContext) -> Iterable[Tool]:
    """The tool ``agent``."""
    from hermes_tool_agents.tool import agent_tool

    return [agent_tool(ctx)]


@hookimpl
def register_jobs(ctx: PluginContext) -> Iterable[Jobs]:
    """The agents at work."""
    from hermes_tool_agents.jobs import Working, at_work

    return [Working(at_work(ctx.state))]
