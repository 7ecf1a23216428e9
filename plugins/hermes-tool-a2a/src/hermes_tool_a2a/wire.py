"""The connection to an agent: the SDK's client, held to the origin that the settings name, and to so many bytes."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
from a2a.client import Client, ClientConfig, ClientFactory
from a2a.client.card_resolver import A2ACardResolver
from a2a.types import AgentCard

from hermes_core import __version__
from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_tool_a2a.known import agent, origin

__all__ = ["card_of", "connected"]

# It logs whole cards and answers, which are for whoever asked.
logging.getLogger("a2a.client").setLevel(logging.CRITICAL)

_MOST = 20_000_000  # bytes of one answer
_ONE = 60.0  # seconds of one request
_BINDINGS = ["JSONRPC", "HTTP+JSON"]


class _Bounded(httpx.AsyncByteStream):
    """An answer that ends with an error where it is too long."""

    def __init__(self, inner: httpx.AsyncByteStream) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for piece in self._inner:
            size += len(piece)
            if size > _MOST:
                raise httpx.ReadError(f"It answers with more than {_MOST:,} bytes.")
            yield piece

    async def aclose(self) -> None:
        """Close what is read from."""
        await self._inner.aclose()


class _Held(httpx.AsyncBaseTransport):
    """Sends to one origin and to no other, whatever a card or an answer says."""

    def __init__(self, url: str) -> None:
        self._inner, self._origin = httpx.AsyncHTTPTransport(), origin(url)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if origin(str(request.url)) != self._origin:
            raise httpx.ConnectError(f"It leads to another place: {request.url.host}.")
        request.headers["accept-encoding"] = "identity"  # so that the bytes that are counted are all
        response = await self._inner.handle_async_request(request)
        if response.headers.get("content-encoding", "identity") != "identity":
            raise httpx.ReadError("It answers in a coding that nobody asked for.")
        assert isinstance(response.stream, httpx.AsyncByteStream)
        return httpx.Response(
            response.status_code,
            headers=response.headers,
            stream=_Bounded(response.stream),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        """Close its connections."""
        await self._inner.aclose()


@asynccontextmanager
async def _http(ctx: PluginContext, name: str) -> AsyncIterator[httpx.AsyncClient]:
    known = agent(ctx, name)
    headers = {"user-agent": f"hermes/{__version__}"}
    if key := ctx.secrets.resolve(known.key):
        headers["authorization"] = f"Bearer {key}"
    elif known.key:
        raise UserError(
            f"The key of the agent {name} is not set.",
            hint=f"{ctx.program} config set {known.key.removeprefix('env:')} …",
        )
    async with httpx.AsyncClient(transport=_Held(known.url), headers=headers, timeout=_ONE) as http:
        yield http


async def card_of(ctx: PluginContext, name: str) -> AgentCard:
    """Return what an agent says of itself. Raises UserError, A2AError."""
    async with _http(ctx, name) as http:
        return await A2ACardResolver(http, agent(ctx, name).url).get_agent_card()


@asynccontextmanager
async def connected(ctx: PluginContext, name: str) -> AsyncIterator[Client]:
    """Connect to an agent by what its card says. Raises UserError, A2AError."""
    async with _http(ctx, name) as http:
        card = await A2ACardResolver(http, agent(ctx, name).url).get_agent_card()
        here = origin(agent(ctx, name).url)
        ours = [one for one in card.supported_interfaces if _is_at(one.url, here)]
        if not ours:
            there = ", ".join(sorted({one.url[:200] for one in card.supported_interfaces})[:3]) or "nowhere"
            hint = f"If that is right, set tools.a2a.agents.{name}.url to it."
            raise UserError(f"The card of {name} leads to another place: {there}.", hint=hint)
        del card.supported_interfaces[:]
        card.supported_interfaces.extend(ours)
        config = ClientConfig(httpx_client=http, supported_protocol_bindings=_BINDINGS, streaming=False, polling=True)
        try:
            client = ClientFactory(config).create(card)
        except ValueError as error:
            raise UserError(f"{name} speaks no binding that is known here: {str(error)[:200]}") from None
        yield client


def _is_at(url: str, here: tuple[str, str, int]) -> bool:
    try:
        return origin(url) == here
    except UserError:
        return False
