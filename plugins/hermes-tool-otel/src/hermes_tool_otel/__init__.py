"""Sends turns, model calls and tool calls as OpenTelemetry traces. It only watches: no hook of it can change a turn."""

import time

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.types import Message, Request, Response, Session, ToolCall, ToolResult, TurnEnd
from hermes_tool_otel.opening import opened, spans_of


@hookimpl
async def on_gateway_start(ctx: PluginContext) -> None:
    """Import what is needed before the first turn."""
    await spans_of(ctx)


@hookimpl
async def on_turn_start(ctx: PluginContext, session: Session, message: Message) -> None:
    """Begin the span of a turn."""
    began = time.monotonic()
    spans = await spans_of(ctx)
    spans.began(session, message, time.monotonic() - began)


@hookimpl
async def post_llm_call(
    ctx: PluginContext, session: Session, request: Request, response: Response, seconds: float
) -> None:
    """A span for a model's reply."""
    (await spans_of(ctx)).replied(session, request, response, seconds)


@hookimpl
async def post_tool_call(
    ctx: PluginContext, session: Session, call: ToolCall, result: ToolResult, outcome: str, seconds: float
) -> None:
    """A span for a tool call."""
    (await spans_of(ctx)).ran(session, call, result, outcome, seconds)


@hookimpl
async def on_turn_end(ctx: PluginContext, session: Session, end: TurnEnd) -> None:
    """The end of a turn's span."""
    (await spans_of(ctx)).ended(session, end)


@hookimpl
async def on_session_end(ctx: PluginContext) -> None:
    """Hand over what is not sent yet: the process may end. A collector that does not answer is not waited for."""
    if spans := opened(ctx):
        await spans.flush()
