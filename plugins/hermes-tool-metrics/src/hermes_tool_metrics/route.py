"""The figures behind the API's host: on a port that is open already, for the owner of a key."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from importlib import import_module
from typing import Any

from hermes_core.context import PluginContext
from hermes_core.types import Principal, Routes

__all__ = ["figures"]


def figures(ctx: PluginContext) -> Routes:
    """The route ``metrics``. Where no gateway counts, as below ``hermes api`` alone, the first question begins it."""

    async def app(
        scope: MutableMapping[str, Any],
        receive: Callable[[], Awaitable[MutableMapping[str, Any]]],
        send: Callable[[MutableMapping[str, Any]], Awaitable[None]],
    ) -> None:
        status, text = 200, ""
        if scope["hermes.owner"].person != Principal().person:
            status, text = 403, "Only the owner of this Hermes reads what all have used.\n"
        elif scope["method"] not in ("GET", "HEAD"):
            status, text = 405, "GET it.\n"
        else:
            measures = await asyncio.to_thread(import_module, "hermes_tool_metrics.measures")
            if "measures" not in ctx.state:
                ctx.state["measures"] = measures.Measures()
            text = ctx.state["measures"].text()
        headers = [(b"content-type", b"text/plain; version=0.0.4; charset=utf-8")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else text.encode()})

    return Routes(name="metrics", app=app)
