"""Searches the web, and reads its pages, feeds and documents."""

from collections.abc import Iterable, Sequence

from hermes_core import hookimpl
from hermes_core.context import PluginContext
from hermes_core.kinds import Tool
from hermes_core.types import Check, Session, SlashCommand, ToolCall, Verdict


@hookimpl
def register_tools(ctx: PluginContext) -> Iterable[Tool]:
    """The tools ``web_search`` and ``web_fetch``."""
    from hermes_tool_web.search.tool import make_search
    from hermes_tool_web.tool import make_tool

    return [make_tool(ctx), make_search(ctx)]


@hookimpl
def register_slash_commands(ctx: PluginContext) -> Sequence[SlashCommand]:
    """``/sources``."""
    from hermes_tool_web.sources import sources_command

    return [sources_command(ctx)]


@hookimpl
def register_checks(ctx: PluginContext) -> Sequence[Check]:
    """Whom a search asks."""
    from hermes_tool_web.checks import checks

    return checks(ctx)


@hookimpl
async def pre_tool_call(ctx: PluginContext, session: Session, call: ToolCall) -> Verdict | None:
    """Say that a search, and reading what a search named, takes nothing to where a page may have wanted it."""
    if call.name not in ("web_search", "web_fetch"):
        return None
    from hermes_tool_web.judging import judged

    return await judged(ctx, session, call)
