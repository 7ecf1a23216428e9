"""All tools of the browser."""

from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.kinds import Tool
from hermes_tool_browser.acting import acting
from hermes_tool_browser.giving import giving
from hermes_tool_browser.looking import looking
from hermes_tool_browser.reading import reading

__all__ = ["tools_of"]


def tools_of(ctx: PluginContext) -> Sequence[Tool]:
    """In the order in which a model is told of them."""
    return [*looking(ctx), *acting(ctx), *reading(ctx), *giving(ctx)]
