"""Streamable HTTP. A host of HTTP serves it: it knows who asks by their key, and refuses pages of other origins."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from hermes_core.context import PluginContext
from hermes_core.types import Principal
from hermes_platform_mcp_serve.config import Config

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

__all__ = ["Manager", "Streamable"]

_SHOWN = b"Hermes speaks the Model Context Protocol here: streamable HTTP, with a key of the API.\n"
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class Manager:
    """The sessions of clients of one server. It lives from the first request to the end of its loop, or ``close``."""

    def __init__(self, server: "Server[Any]", **options: Any) -> None:
        self._server, self._options = server, options
        self._manager: StreamableHTTPSessionManager | None = None
        self._task: asyncio.Task[None] | None = None
        self._up, self._over = asyncio.Event(), asyncio.Event()

    async def _live(self) -> None:
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        manager = StreamableHTTPSessionManager(self._server, **self._options)
        async with manager.run():
            self._manager = manager
            self._up.set()
            await self._over.wait()

    async def handle(self, scope: Scope, receive: Receive, send: Send, owner: Principal) -> None:
        """Answer one request of somebody, whose sessions nobody else can use."""
        from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
        from mcp.server.auth.provider import AccessToken

        if self._task is None:
            self._task = asyncio.ensure_future(self._live())
        up = asyncio.ensure_future(self._up.wait())
        await asyncio.wait({up, self._task}, return_when=asyncio.FIRST_COMPLETED)
        up.cancel()
        if self._manager is None:
            self._task.result()
            raise RuntimeError("it is closed")
        who = AccessToken(token="", client_id=f"{owner.profile}/{owner.person}", scopes=[])
        headers = [(name, value.strip(b" \t")) for name, value in scope["headers"]]  # blanks around them mean nothing
        asked = {**scope, "headers": headers, "user": AuthenticatedUser(who)}
        await self._manager.handle_request(asked, receive, send)

    async def close(self) -> None:
        """End all sessions."""
        self._over.set()
        if self._task is not None:
            with suppress(asyncio.CancelledError):
                await self._task


class Streamable:
    """The application of the route."""

    def __init__(self, ctx: PluginContext) -> None:
        self._ctx = ctx
        self._manager: Manager | None = None
        self._making = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request to whom the host knows."""
        owner = scope.get("hermes.owner")
        if not isinstance(owner, Principal):  # no host lets one through; it costs nothing to be sure
            await _said(send, 401, b"")
            return
        if scope["method"] == "GET" and not any(b"text/event-stream" in value for _, value in _accepted(scope)):
            await _said(send, 200, _SHOWN)  # a person with a browser, and no client
            return
        async with self._making:
            if self._manager is None:
                self._manager = await self._made()
        await self._manager.handle(scope, receive, send, owner)

    async def _made(self) -> Manager:
        from hermes_platform_mcp_serve.chosen import chosen
        from hermes_platform_mcp_serve.serving import made_server

        config: Config = self._ctx.config or Config()
        found = await chosen(self._ctx, config.tools)
        for line in found.left:
            self._ctx.log.warning("%s", line)
        return Manager(made_server(self._ctx, _owner_of, found.tools))


def _accepted(scope: Scope) -> list[tuple[bytes, bytes]]:
    return [(name, value) for name, value in scope["headers"] if name == b"accept"]


async def _said(send: Send, status: int, text: bytes) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text})


def _owner_of(request: Any) -> Principal:
    owner = request.request.scope["hermes.owner"]
    assert isinstance(owner, Principal), "the route lets nobody else in"
    return owner
