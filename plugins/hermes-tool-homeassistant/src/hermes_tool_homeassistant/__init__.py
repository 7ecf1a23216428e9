"""Reads and controls the devices of Home Assistant, and answers their events."""

from collections.abc import Iterable, Sequence

from hermes_core import hookimpl
from hermes_core.context import PluginContext
from hermes_core.kinds import Resource, Service, SetupStep, Tool
from hermes_core.types import Check, ToolCall, Verdict


@hookimpl
def register_tools(ctx: PluginContext) -> Iterable[Tool]:
    """The tools of the home."""
    from hermes_tool_homeassistant.tools import tools_of

    return tools_of(ctx)


@hookimpl
def register_resources(ctx: PluginContext) -> Iterable[Resource]:
    """The connection of each session."""
    from hermes_tool_homeassistant.lasting import Connections

    return [Connections(ctx)]


@hookimpl
def register_services(ctx: PluginContext) -> Iterable[Service]:
    """What listens for events that a rule is for."""
    from hermes_tool_homeassistant.watching import Watch

    return [Watch(ctx)]


@hookimpl
async def pre_tool_call(ctx: PluginContext, call: ToolCall) -> Verdict | None:
    """Say what one call does: services are refused, asked about by the tool itself, or judged as the policy says."""
    if not call.name.startswith("ha_"):
        return None
    from hermes_tool_homeassistant.judging import judged

    return judged(ctx, call)


@hookimpl
def register_setup(ctx: PluginContext) -> Iterable[SetupStep]:
    """The address and the token."""
    from hermes_tool_homeassistant.setup import Home

    return [Home()]


@hookimpl
def register_checks(ctx: PluginContext) -> Sequence[Check]:
    """Whether Home Assistant answers."""
    from hermes_tool_homeassistant.checks import checks

    return checks(ctx)
