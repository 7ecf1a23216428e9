"""Logins of servers by OAuth 2.1: the tokens of each in a file for nobody else, and how a person makes one.

Hermes registers itself where a server lets it, proves with PKCE that it began the login, and refreshes tokens by
itself. A login takes a person, so a conversation never begins one: it says which command does.
"""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_tool_mcp.config import ServerSettings

__all__ = ["Tokens", "kept_login", "new_login", "own_login", "read_answer"]

_PATIENCE = 600.0  # seconds that a person has
_EARLY = 30  # seconds before its end at which a token is renewed


class Tokens:
    """What is kept of one login: tokens, who Hermes is there, and where its tokens are renewed."""

    def __init__(self, data: Path, name: str, url: str) -> None:
        self._path, self._url = data / "logins" / f"{name}.json", url
        self.beside: Callable[[], dict[str, Any]] = dict  # what is kept with tokens

    @property
    def there(self) -> bool:
        """Whether there is a login for this address."""
        return bool(self.read().get("tokens"))

    @property
    def mark(self) -> tuple[int, int]:
        """What changes when something else is kept."""
        with suppress(OSError):
            status = self._path.stat()
            return (status.st_ino, status.st_mtime_ns)
        return (0, 0)

    def read(self) -> dict[str, Any]:
        """Return what is kept; nothing where it is of another address."""
        with suppress(OSError, ValueError):
            found = json.loads(self._path.read_bytes())
            if isinstance(found, dict) and found.get("url") == self._url:
                return found
        return {}

    def write(self, **parts: Any) -> None:
        """Keep more of it, in the place of what was there."""
        from hermes_atomic.whole import replace

        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace(self._path, json.dumps({**self.read(), "url": self._url, **parts}).encode(), mode=0o600)

    def forget(self) -> bool:
        """Forget it; whether there was one."""
        there = self._path.exists()
        self._path.unlink(missing_ok=True)
        return there

    async def get_tokens(self) -> Any:
        """Return the tokens, as the SDK asks for them."""
        from mcp.shared.auth import OAuthToken

        kept = self.read().get("tokens")
        return OAuthToken.model_validate(kept) if kept else None

    async def set_tokens(self, tokens: Any) -> None:
        """Keep tokens, with the instant of their end."""
        ends = time.time() + tokens.expires_in if tokens.expires_in else 0
        self.write(tokens=tokens.model_dump(mode="json", exclude_none=True), ends=ends, **self.beside())

    async def get_client_info(self) -> Any:
        """Return who Hermes is there."""
        from mcp.shared.auth import OAuthClientInformationFull

        kept = self.read().get("client")
        return OAuthClientInformationFull.model_validate(kept) if kept else None

    async def set_client_info(self, client_info: Any) -> None:
        """Keep who Hermes is there."""
        self.write(client=client_info.model_dump(mode="json", exclude_none=True))


def kept_login(ctx: PluginContext, name: str, server: ServerSettings, tokens: Tokens) -> Any:
    """Return the login that a connection uses. Where a person is needed it says which command asks one."""

    async def stale(_where: str) -> None:
        raise UserError(f"The login of the MCP server {name} has ended.", hint=f"{ctx.program} mcp login {name}")

    async def never() -> Any:
        raise UserError(f"The login of the MCP server {name} has ended.", hint=f"{ctx.program} mcp login {name}")

    return _provider(ctx, name, server, tokens, "http://127.0.0.1/callback", stale, never)


def own_login(name: str, server: ServerSettings, tokens: Tokens) -> Any:
    """Return a login that needs no person. Raises UserError where it is not said who Hermes is."""
    from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider

    if not (server.client_id and server.client_secret):
        key = f"mcp.servers.{name}"
        raise UserError(f"{key}.login is client, so {key}.client_id and {key}.client_secret have to be set.")
    return ClientCredentialsOAuthProvider(server.url, tokens, server.client_id, server.client_secret)


def new_login(
    ctx: PluginContext,
    name: str,
    server: ServerSettings,
    tokens: Tokens,
    redirect: str,
    show: Callable[[str], Awaitable[None]],
    answer: Callable[[], Awaitable[Any]],
) -> Any:
    """Return a login that a person makes: ``show`` is told where, ``answer`` gives what came back."""
    return _provider(ctx, name, server, tokens, redirect, show, answer)


def _provider(
    ctx: PluginContext,
    name: str,
    server: ServerSettings,
    tokens: Tokens,
    redirect: str,
    show: Callable[[str], Awaitable[None]],
    answer: Callable[[], Awaitable[Any]],
) -> Any:
    from mcp.client.auth import OAuthClientProvider
    from mcp.shared.auth import (
        OAuthClientInformationFull,
        OAuthClientMetadata,
        OAuthMetadata,
        ProtectedResourceMetadata,
    )
    from pydantic import AnyUrl

    class Lasting(OAuthClientProvider):
        """The SDK's, which goes on with what another process kept: when a token ends, and where it is renewed."""

        _seen: object = None

        @property
        def _initialized(self) -> bool:
            """Whether what is kept is what it knows: another process may have renewed it."""
            return self._seen is not None and self._seen == tokens.mark

        @_initialized.setter
        def _initialized(self, value: bool) -> None:
            self._seen = tokens.mark if value else None

        async def _initialize(self) -> None:
            await super()._initialize()
            kept, context = tokens.read(), self.context
            if context.client_info is None and server.client_id and not server.client_id.startswith("https://"):
                given = server.client_secret
                context.client_info = OAuthClientInformationFull(
                    client_id=server.client_id,
                    client_secret=given or None,
                    redirect_uris=[AnyUrl(redirect)],
                    token_endpoint_auth_method="client_secret_basic" if given else "none",
                )
            if kept.get("ends"):
                context.token_expiry_time = kept["ends"] - _EARLY
            if kept.get("metadata"):
                context.oauth_metadata = OAuthMetadata.model_validate(kept["metadata"])
            if kept.get("resource"):
                context.protected_resource_metadata = ProtectedResourceMetadata.model_validate(kept["resource"])
            context.auth_server_url = kept.get("issuer") or context.auth_server_url

    def beside() -> dict[str, Any]:
        """Return where tokens are renewed, to be kept with them."""
        context = provider.context
        parts = {"metadata": context.oauth_metadata, "resource": context.protected_resource_metadata}
        dumped = {key: one.model_dump(mode="json", exclude_none=True) for key, one in parts.items() if one}
        return {**dumped, "issuer": context.auth_server_url}

    tokens.beside = beside
    metadata = OAuthClientMetadata(client_name="Hermes", redirect_uris=[AnyUrl(redirect)])
    document = server.client_id if server.client_id.startswith("https://") else None
    provider = Lasting(server.url, metadata, tokens, show, answer, client_metadata_url=document)
    return provider


def read_answer(text: str) -> Any:
    """Read the address that a login led back to, as a person pasted it, or the end of it. Raises UserError."""
    from mcp.shared.auth import AuthorizationCodeResult

    query = parse_qs(urlsplit(text.strip()).query or text.strip().lstrip("?"))
    if "error" in query:
        said = " ".join(query.get("error_description", query["error"]))[:300]
        raise UserError(f"The login was refused: {said}")
    if not query.get("code"):
        raise UserError(
            "There is no code in that.", hint="Paste the whole address that the browser ended at, with ?code= in it."
        )
    return AuthorizationCodeResult(
        code=query["code"][0], state=query.get("state", [None])[0], iss=query.get("iss", [None])[0]
    )


class Callback:
    """The address on this machine that a login leads back to; it hears one answer."""

    def __init__(self) -> None:
        self.address = ""
        self._answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._heard, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        self.address = f"http://127.0.0.1:{port}/callback"
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None, "it was begun"
        self._server.close()

    async def answer(self) -> str:
        """Return the address that was led back to. Raises UserError where nobody came."""
        try:
            async with asyncio.timeout(_PATIENCE):
                return await asyncio.shield(self._answer)
        except TimeoutError:
            raise UserError("Nobody logged in within ten minutes.") from None

    def again(self) -> None:
        """Hear another answer."""
        self._answer = asyncio.get_running_loop().create_future()

    def give(self, text: str) -> None:
        """Take an answer that came another way."""
        if not self._answer.done():
            self._answer.set_result(text)

    async def _heard(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, ValueError, asyncio.IncompleteReadError, TimeoutError):
            async with asyncio.timeout(10):
                line = (await reader.readline()).decode("ascii", "replace").split()
            wanted = len(line) == 3 and line[0] == "GET" and line[1].startswith("/callback?")
            body = b"You are logged in. Close this page and go on in the terminal." if wanted else b"Not here."
            status = "200 OK" if wanted else "404 Not Found"
            fields = ("Content-Type: text/plain", f"Content-Length: {len(body)}", "Connection: close")
            head = "\r\n".join((f"HTTP/1.1 {status}", *fields, "", ""))
            writer.write(head.encode() + body)
            await writer.drain()
            if wanted:
                self.give(line[1])
        writer.close()
