"""Opens web pages in a browser and acts on them."""

from collections.abc import Iterable, Sequence

from hermes_core import hookimpl
from hermes_core.context import PluginContext
from hermes_core.kinds import Resource, Tool
from hermes_core.types import Check, Session, ToolCall, Verdict


@hookimpl
def register_tools(ctx: PluginContext) -> Iterable[Tool]:
    """The tools of the browser."""
    from hermes_tool_browser.tools import tools_of

    return tools_of(ctx)


@hookimpl
def register_resources(ctx: PluginContext) -> Iterable[Resource]:
    """The browser of each session."""
    from hermes_tool_browser.lasting import Browsers

    return [Browsers(ctx)]


@hookimpl
async def pre_tool_call(ctx: PluginContext, session: Session, call: ToolCall) -> Verdict | None:
    """Say what one act on a page does: looking on asks nobody, sending asks as the policy says."""
    if not call.name.startswith("browser_"):
        return None
    from hermes_tool_browser.effects import judged

    return judged(ctx, session, call)


@hookimpl
def register_checks(ctx: PluginContext) -> Sequence[Check]:
    """Whether there is a browser, and what holds around it."""
    from hermes_tool_browser.checks import checks

    return checks(ctx)
