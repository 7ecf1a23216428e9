"""The spans of this process, opened when the first is needed: the SDK is imported beside whatever happens."""

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING, cast

from hermes_core.context import PluginContext

if TYPE_CHECKING:
    from hermes_tool_otel.spans import Spans

__all__ = ["opened", "spans_of"]


def opened(ctx: PluginContext) -> "Spans | None":
    """The spans, if there were any yet."""
    return cast("Spans | None", ctx.state.get("spans"))


async def spans_of(ctx: PluginContext) -> "Spans":
    """The spans. A plugin hears its events one after another, so they are opened once."""
    if "spans" not in ctx.state:
        module = await asyncio.to_thread(import_module, "hermes_tool_otel.spans")
        given = (ctx.config, ctx.secrets.resolve, ctx.log, ctx.masks.text)
        ctx.state["spans"] = await asyncio.to_thread(module.open_spans, *given)
    return cast("Spans", ctx.state["spans"])
