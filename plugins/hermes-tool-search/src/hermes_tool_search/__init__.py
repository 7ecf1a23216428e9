"""Finds tools among hundreds, so that their schemas need not fill every request."""

from collections.abc import Sequence
from pathlib import Path

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Tool
from hermes_core.types import Migration, Offer, Session


@hookimpl
def register_tools(ctx: PluginContext) -> Sequence[Tool]:
    """The tools ``tool_search`` and ``tool_describe``; what they find is called through the kernel's ``tool_call``."""
    from hermes_tool_search.tools import make_search, tool_describe

    return [make_search(ctx), tool_describe]


@hookimpl
def register_migrations(ctx: PluginContext) -> Sequence[Migration]:
    """The table of vectors, for those who have tools ranked by meaning."""
    return [Migration(folder=Path(__file__).with_name("versions"), head="0001")]


@hookimpl
async def offer_tools(ctx: PluginContext, session: Session, offer: Offer) -> Offer:
    """Put the tools outside of the core behind a search, where they would take much of the model's window."""
    from hermes_tool_search.config import Config
    from hermes_tool_search.offering import by_search

    return by_search(offer, ctx.config or Config())


@hookimpl
async def on_session_end(ctx: PluginContext, session: Session) -> None:
    """Stop what is made for it beside its turns."""
    if "making" in ctx.state:
        from hermes_tool_search.meaning import end

        await end(ctx, session)
