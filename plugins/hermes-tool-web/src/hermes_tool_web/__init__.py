"""Searches the web, and reads its pages, feeds and documents."""

from collections.abc import Iterable, Sequence

from hermes_core import hookimpl
from hermes_core.context import PluginContext
from hermes_core.kinds import Tool
from hermes_core.types import Check, Message, Session, SlashCommand, ToolCall, Verdict


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


@hookimpl
async def may_stream() -> Verdict | None:
    """Let an answer be shown as it comes: sources are only added to it."""
    return None


@hookimpl(tryfirst=True)  # before who makes something else of the text
async def transform_outgoing(ctx: PluginContext, session: Session, message: Message) -> Message | None:
    """Put its list of sources below an answer, where that is set."""
    if ctx.config is None or ctx.config.citations != "always":
        return None
    from hermes_tool_web.citing import cited

    return await cited(ctx, session, message)
