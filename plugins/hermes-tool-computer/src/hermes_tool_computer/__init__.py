"""Looks at a screen, clicks and types."""

from collections.abc import Iterable, Sequence

from hermes_core import hookimpl
from hermes_core.context import PluginContext
from hermes_core.kinds import Resource, Tool
from hermes_core.types import Check, ToolCall, Verdict


@hookimpl
def register_tools(ctx: PluginContext) -> Iterable[Tool]:
    """The tools of the screen."""
    from hermes_tool_computer.tools import tools_of

    return tools_of(ctx)


@hookimpl
def register_resources(ctx: PluginContext) -> Iterable[Resource]:
    """The screen of each session."""
    from hermes_tool_computer.lasting import Screens

    return [Screens(ctx)]


@hookimpl
async def pre_tool_call(call: ToolCall) -> Verdict | None:
    """Say that these ask by themselves, in every mode: no rule and no mode knows what stands at a point of a screen."""
    return Verdict(outcome="allow", effects=frozenset()) if call.name.startswith("computer_") else None


@hookimpl
def register_checks(ctx: PluginContext) -> Sequence[Check]:
    """Whether there is a screen, and what reaches it."""
    from hermes_tool_computer.checks import checks

    return checks(ctx)
