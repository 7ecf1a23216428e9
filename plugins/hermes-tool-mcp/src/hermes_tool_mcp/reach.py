"""How a server is reached: a program that is started, or an address; with the login that was made for it."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from hermes_core.context import PluginContext
from hermes_tool_mcp.config import ServerSettings
from hermes_tool_mcp.connection import Opens

if TYPE_CHECKING:
    import httpx2

__all__ = ["opening"]

_CONNECT, _READ = 30.0, 300.0  # seconds


def opening(
    ctx: PluginContext, name: str, server: ServerSettings, folder: str, auth: "httpx2.Auth | None" = None
) -> Opens:
    """Return what opens the streams of a server. ``auth`` is its login where there is another than what is kept."""

    @asynccontextmanager
    async def local(ended: Callable[[str], None]) -> AsyncIterator[tuple[Any, Callable[[], str]]]:
        from hermes_tool_mcp.place import started

        async with started(ctx, name, server, folder, ended) as (streams, said):
            yield streams, said.tail

    @asynccontextmanager
    async def remote(_ended: Callable[[str], None]) -> AsyncIterator[tuple[Any, Callable[[], str]]]:
        import httpx2

        headers = dict(server.headers)
        login = auth if auth is not None else _kept_login(ctx, name, server)
        if server.transport == "sse":
            from mcp.client.sse import sse_client

            async with sse_client(server.url, headers=headers, timeout=_CONNECT, auth=login) as streams:
                yield streams, str
            return
        from mcp.client.streamable_http import streamable_http_client

        refused: list[int] = []

        async def heard(response: httpx2.Response) -> None:
            if response.status_code >= 400:
                refused.append(response.status_code)

        def said() -> str:
            if 401 in refused and login is None:
                return f"401, so it wants a login: {ctx.program} mcp login {name} (first: mcp add … --no-test)"
            return f"HTTP {refused[-1]}" if refused else ""

        patience = httpx2.Timeout(_CONNECT, read=max(_READ, server.timeout))
        async with (
            httpx2.AsyncClient(
                headers=headers, auth=login, timeout=patience, event_hooks={"response": [heard]}
            ) as client,
            streamable_http_client(server.url, http_client=client) as streams,
        ):
            yield streams, said

    return local if server.command else remote


def _kept_login(ctx: PluginContext, name: str, server: ServerSettings) -> "httpx2.Auth | None":
    """Return the login that was made before, or that Hermes makes by itself; None where there is none."""
    from hermes_tool_mcp.login import Tokens, kept_login, own_login

    tokens = Tokens(ctx.paths.data, name, server.url)
    login: httpx2.Auth
    if server.login == "client":
        login = own_login(name, server, tokens)
        return login
    return kept_login(ctx, name, server, tokens) if tokens.there else None
