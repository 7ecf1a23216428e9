"""All tools of the browser."""

from collections.abc import Sequence
from typing import Any

from attrs import evolve

from hermes_core.context import PluginContext
from hermes_core.errors import OutOfReach, ToolError
from hermes_core.kinds import Tool, ToolContext, ToolOutput
from hermes_core.types import Text
from hermes_tool_browser.acting import acting
from hermes_tool_browser.giving import giving
from hermes_tool_browser.lasting import open_one
from hermes_tool_browser.looking import looking
from hermes_tool_browser.reading import reading

__all__ = ["tools_of"]


def tools_of(ctx: PluginContext) -> Sequence[Tool]:
    """In the order in which a model is told of them."""
    return [_hiding(ctx, tool) for tool in (*looking(ctx), *acting(ctx), *reading(ctx), *giving(ctx))]


def _hiding(ctx: PluginContext, tool: Tool) -> Tool:
    """The tool, without what was typed in for a vault in anything that it says."""

    async def run(context: ToolContext, given: Any) -> ToolOutput:
        def hide(text: str) -> str:
            browsing = open_one(ctx, context.session.id)
            return browsing.kept.hide(text) if browsing is not None else text

        try:
            said = await tool.run(context, given)
        except OutOfReach as error:
            raise OutOfReach(hide(error.text), hint=hide(error.hint), opened=error.opened) from None
        except ToolError as error:
            raise ToolError(hide(error.text), hint=hide(error.hint), retry=error.retry) from None
        if isinstance(said, str):
            return hide(said)
        return [evolve(part, text=hide(part.text)) if isinstance(part, Text) else part for part in said]

    return evolve(tool, run=run)
