"""The HTTP server, inside an event loop that is not its own."""

import asyncio
import contextlib
import socket
from collections.abc import Sequence
from typing import Any

import uvicorn
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route as Path
from starlette.routing import Router
from starlette.types import ASGIApp, Receive, Scope, Send

from hermes_core.errors import UserError
from hermes_core.types import Principal
from hermes_platform_api.connections import bounded, most_connections
from hermes_platform_api.errors import ApiError
from hermes_platform_api.mounts import Mount
from hermes_platform_api.openapi import document
from hermes_platform_api.routes import ROUTES, Handler
from hermes_platform_api.service import Service
from hermes_platform_api.sse import json_answer

__all__ = ["Server", "application", "listen"]

_GRACE = 1  # seconds for answers to be written when the server closes


def application(service: Service, mounts: Sequence[Mount] = (), owner: Principal | None = None) -> ASGIApp:
    """The routes, with nothing before them. The document says, too, what the ``mounts`` say of theirs."""
    whole: dict[str, Any] = {}

    async def openapi(_request: Request) -> Response:
        if not whole:
            own = document()
            for one in mounts:
                own["paths"] = {**await one.described(owner or Principal()), **own["paths"]}
            whole.update(own)
        return json_answer(whole)

    routes: dict[str, dict[str, Handler]] = {}
    for route in ROUTES:
        routes.setdefault(route.path, {})[route.method] = route.handler
    paths = [Path(path, _Methods(service, methods)) for path, methods in routes.items()]
    compact = Path("/v1/responses/compact", _compact, methods=["POST"])
    return Router([compact, *paths, Path("/openapi.json", openapi)], redirect_slashes=False, default=_nowhere)


async def _nowhere(scope: Scope, receive: Receive, send: Send) -> None:
    raise ApiError(404, "not_found", f"There is nothing at {scope['path'][:200]}.")


async def _compact(_request: Request) -> Response:
    text = "A long conversation is compacted by itself, in its session: go on with previous_response_id."
    raise ApiError(404, "not_found", text)


class _Methods:
    """What serves the methods of one path."""

    def __init__(self, service: Service, methods: dict[str, Handler]) -> None:
        self._service, self._methods = service, methods

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        handler = self._methods.get(scope["method"])
        if handler is None:
            allowed = ", ".join(sorted(self._methods))
            raise ApiError(405, "method_not_allowed", f"Use {allowed} here.", headers={"allow": allowed})
        response = await handler(self._service, Request(scope, receive))
        await response(scope, receive, send)


class Server:
    """Listens on a socket from ``start`` to ``stop``, with at most so many ``connections`` at once."""

    def __init__(self, app: ASGIApp, listening: socket.socket, *, connections: int = 500) -> None:
        self._socket = listening
        config = uvicorn.Config(
            app,
            http=bounded(most_connections(connections)),
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=_GRACE,
        )
        self._server = _Quiet(config)
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Take connections from now on."""
        self._task = asyncio.create_task(self._server.serve(sockets=[self._socket]))
        up = asyncio.ensure_future(self._server.up.wait())
        await asyncio.wait({self._task, up}, return_when=asyncio.FIRST_COMPLETED)
        up.cancel()

    async def ended(self) -> None:
        """Wait until it ends. Raises what ended it."""
        if self._task:
            await asyncio.shield(self._task)

    async def stop(self) -> None:
        """Let what runs end, for a few seconds; then end it."""
        self._server.should_exit = True
        if self._task:
            await asyncio.wait({self._task})
        self._socket.close()


class _Quiet(uvicorn.Server):
    """Leaves signals to the program that it runs in, and says when it is ``up``."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.up = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.up.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Any:
        yield


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there. Raises UserError when it cannot be had."""
    try:
        [(family, kind, protocol, _, address), *_] = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
    except OSError as error:
        raise UserError(
            f"{host} is no address to listen on: {error.strerror}.", hint="See platforms.api.host."
        ) from None
    listening = socket.socket(family, kind, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(256)
    except OSError as error:
        listening.close()
        why = "is in use" if error.errno == 98 else f"cannot be used: {error.strerror}"
        hint = "Another Hermes may serve there. Choose another port: platforms.api.port."
        raise UserError(f"Port {port} on {host} {why}.", hint=hint) from None
    listening.setblocking(False)
    return listening
