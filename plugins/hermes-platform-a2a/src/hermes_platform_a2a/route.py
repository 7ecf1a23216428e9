"""The routes: the agent, for who has a key of the API, and its card, for anybody."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from hermes_core.context import PluginContext
from hermes_core.types import Principal

if TYPE_CHECKING:
    from hermes_platform_a2a.serving import Serving

__all__ = ["WELL_KNOWN", "Agent", "PublicCard"]

WELL_KNOWN = "/.well-known/agent-card.json"  # A2A 1.0, section 8.2
_SHOWN = b"An agent answers here by the A2A protocol, 1.0, with a key of the API.\n"
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class Agent:
    """``/platform/a2a/agent``: JSON-RPC and HTTP+JSON, the card besides."""

    def __init__(self, ctx: PluginContext) -> None:
        self._ctx = ctx
        self._serving: Serving | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request to whom the host knows."""
        if not isinstance(scope.get("hermes.owner"), Principal):
            await _said(send, 401, b"")
            return
        if scope["method"] == "GET" and scope["path"].removeprefix(scope["root_path"]) in ("", "/"):
            await _said(send, 200, _SHOWN)  # a person with a browser, and no client
            return
        if self._serving is None:
            # The SDK takes a while to be imported, and others are answered meanwhile.
            await asyncio.to_thread(import_module, "hermes_platform_a2a.serving")
            from hermes_platform_a2a.serving import Serving

            self._serving = self._serving or Serving(self._ctx)
        await self._serving(scope, receive, send)


class PublicCard:
    """The card: what the agent is called and how to ask it. It holds nothing of its person.

    ``at`` is where it is below the route. ``/platform/a2a/card`` has it at its well-known place, as below a host of its
    own; the route of the card's own name is the card, and the API serves that at the root of its host.
    """

    def __init__(self, ctx: PluginContext, at: str = "") -> None:
        self._ctx, self._at = ctx, at

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Give the card, and nothing else."""
        from hermes_platform_a2a.card import card_json

        if scope["method"] not in ("GET", "HEAD") or scope["path"].removeprefix(scope["root_path"]) != self._at:
            await _said(send, 404, f"The card of the agent is at {self._at or scope['root_path']}.\n".encode())
            return
        await asyncio.to_thread(import_module, "a2a.types")
        card = card_json(self._ctx, scope) if scope["method"] == "GET" else b""
        await _said(send, 200, card, b"application/json")


async def _said(send: Send, status: int, text: bytes, kind: bytes = b"text/plain; charset=utf-8") -> None:
    await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", kind)]})
    await send({"type": "http.response.body", "body": text})
