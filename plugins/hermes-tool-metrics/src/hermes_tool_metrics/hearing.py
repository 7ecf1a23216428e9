"""What is heard of turns, and counted once a gateway has opened the endpoint. A single question counts nothing."""

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING, cast

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.types import (
    Fault,
    Request,
    Response,
    Session,
    ToolCall,
    TurnEnd,
)

if TYPE_CHECKING:
    from hermes_tool_metrics.measures import Measures


def _measures(ctx: PluginContext) -> "Measures | None":
    return cast("Measures | None", ctx.state.get("measures"))


@hookimpl
async def on_gateway_start(ctx: PluginContext) -> None:
    """Count from now on, and answer at ``/metrics``."""
    endpoint = await asyncio.to_thread(import_module, "hermes_tool_metrics.endpoint")
    opened = await asyncio.to_thread(endpoint.open_endpoint, ctx.config, ctx.log)
    if opened:
        ctx.state["measures"] = opened.measures


@hookimpl
async def on_turn_start(ctx: PluginContext, session: Session) -> None:
    """One more turn runs."""
    if measures := _measures(ctx):
        measures.began(session)


@hookimpl
async def on_turn_end(ctx: PluginContext, session: Session, end: TurnEnd) -> None:
    """A turn is over."""
    if measures := _measures(ctx):
        measures.ended(session, end)


@hookimpl
async def post_llm_call(
    ctx: PluginContext, session: Session, request: Request, response: Response, seconds: float
) -> None:
    """A model replied."""
    if measures := _measures(ctx):
        measures.replied(session, request, response, seconds)


@hookimpl
async def post_tool_call(ctx: PluginContext, call: ToolCall, outcome: str, seconds: float) -> None:
    """A tool call is over."""
    if measures := _measures(ctx):
        measures.ran(call, outcome, seconds)


@hookimpl
async def on_fault(ctx: PluginContext, fault: Fault) -> None:
    """A plugin failed."""
    if measures := _measures(ctx):
        measures.failed(fault)
