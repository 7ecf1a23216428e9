"""Sends turns, model calls and tool calls as OpenTelemetry traces. It only watches: no hook of it can change a turn."""

import asyncio
import time
from importlib import import_module
from typing import TYPE_CHECKING, cast

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.types import Message, Request, Response, Session, ToolCall, ToolResult, TurnEnd

if TYPE_CHECKING:
    from hermes_tool_otel.spans import Spans


async def _spans(ctx: PluginContext) -> "Spans":
    """The spans of this process; the SDK is imported beside the turn, when the first one begins."""
    if "spans" not in ctx.state:
        module = await asyncio.to_thread(import_module, "hermes_tool_otel.spans")
        ctx.state["spans"] = await asyncio.to_thread(module.open_spans, ctx.config, ctx.secrets.resolve, ctx.log)
    return cast("Spans", ctx.state["spans"])


@hookimpl
async def on_gateway_start(ctx: PluginContext) -> None:
    """Import what is needed before the first turn."""
    await _spans(ctx)


@hookimpl
async def on_turn_start(ctx: PluginContext, session: Session, message: Message) -> None:
    """Begin the span of a turn."""
    began = time.monotonic()
    spans = await _spans(ctx)
    spans.began(session, message, time.monotonic() - began)


@hookimpl
async def post_llm_call(
    ctx: PluginContext, session: Session, request: Request, response: Response, seconds: float
) -> None:
    """A span for a model's reply."""
    (await _spans(ctx)).replied(session, request, response, seconds)


@hookimpl
async def post_tool_call(
    ctx: PluginContext, session: Session, call: ToolCall, result: ToolResult, outcome: str, seconds: float
) -> None:
    """A span for a tool call."""
    (await _spans(ctx)).ran(session, call, result, outcome, seconds)


@hookimpl
async def on_turn_end(ctx: PluginContext, session: Session, end: TurnEnd) -> None:
    """The end of a turn's span."""
    (await _spans(ctx)).ended(session, end)


@hookimpl
async def on_session_end(ctx: PluginContext) -> None:
    """Hand over what is not sent yet: the process may end. A collector that does not answer is not waited for."""
    if "spans" in ctx.state:
        await cast("Spans", ctx.state["spans"]).flush()
