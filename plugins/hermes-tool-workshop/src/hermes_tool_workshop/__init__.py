"""Lets the agent write tools for itself."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Tool, ToolSource
from hermes_core.types import Check, Command, Session, ToolCall, Verdict

if TYPE_CHECKING:
    from hermes_tool_workshop.made import Workshop


@hookimpl
def register_tools(ctx: PluginContext) -> Sequence[Tool]:
    """The tool that writes tools."""
    from hermes_tool_workshop.offer import make_tools

    return make_tools(lambda: _shop(ctx))


@hookimpl
def register_tool_sources(ctx: PluginContext) -> Sequence[ToolSource]:
    """The tools that were written."""
    from hermes_tool_workshop.offer import make_source

    return [make_source(ctx.paths.data, lambda: _shop(ctx))]


@hookimpl
async def pre_tool_call(ctx: PluginContext, session: Session, call: ToolCall) -> Verdict | None:
    """Code that cannot be kept is refused before anybody is asked; code that was approved needs no other yes."""
    if not call.name.startswith(("own_", "tool_write")):
        return None
    import asyncio

    from hermes_tool_workshop.gate import verdict

    return await asyncio.to_thread(verdict, _shop(ctx), session, call)


@hookimpl
def register_cli_commands(ctx: PluginContext) -> Sequence[Command]:
    """``hermes workshop …``."""
    from hermes_tool_workshop.commands import commands

    return commands(ctx.paths.data)


@hookimpl
def register_checks(ctx: PluginContext) -> Sequence[Check]:
    """Whether what is kept is what was approved."""
    from hermes_tool_workshop.checks import checks

    return checks(ctx.paths.data)


def _shop(ctx: PluginContext) -> "Workshop":
    if "shop" not in ctx.state:
        from hermes_tool_workshop.config import Config
        from hermes_tool_workshop.made import Workshop

        ctx.state["shop"] = Workshop(ctx.paths.data, ctx.paths.home, ctx.config or Config(), ctx.log)
    shop: Workshop = ctx.state["shop"]
    return shop
