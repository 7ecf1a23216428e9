"""Lets the agent write tools for itself."""

from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Tool, ToolSource
from hermes_core.types import Check, Command, Session, ToolCall, Verdict


@hookimpl
def register_tools(ctx: PluginContext) -> Sequence[Tool]:
    """The tool that writes tools."""
    from hermes_tool_workshop import offer

    return offer.make_tools(lambda: offer.shop_of(ctx))


@hookimpl
def register_tool_sources(ctx: PluginContext) -> Sequence[ToolSource]:
    """The tools that were written."""
    from hermes_tool_workshop import offer

    return [offer.make_source(ctx.paths.data, lambda: offer.shop_of(ctx))]


@hookimpl
async def pre_tool_call(ctx: PluginContext, session: Session, call: ToolCall) -> Verdict | None:
    """Code that cannot be kept is refused before anybody is asked; code that was approved needs no other yes."""
    if not call.name.startswith(("own_", "tool_write")):
        return None
    import asyncio

    from hermes_tool_workshop import gate, offer

    return await asyncio.to_thread(gate.verdict, offer.shop_of(ctx), session, call)


@hookimpl
def register_cli_commands(ctx: PluginContext) -> Sequence[Command]:
    """``hermes workshop …``."""
    from hermes_tool_workshop import commands, curating

    return [*commands.commands(ctx.paths.data), *curating.commands(ctx)]


@hookimpl
async def on_session_start(ctx: PluginContext, session: Session) -> None:
    """Put away what nobody calls any more, once a week."""
    from hermes_tool_workshop import curating

    await curating.look(ctx, session)


@hookimpl
def register_checks(ctx: PluginContext) -> Sequence[Check]:
    """Whether what is kept is what was approved."""
    from hermes_tool_workshop.checks import checks

    return checks(ctx.paths.data)
