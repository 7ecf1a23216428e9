"""The HTTP server, on this machine alone and inside an event loop that is not its own."""

import contextlib
import errno
import logging
import socket
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from hermes_core.errors import UserError

if TYPE_CHECKING:
    from hermes_platform_proxy.app import App

__all__ = ["listen", "serve"]

_AT_ONCE = 64  # requests; a program that asks for more waits for none, and is told


def _broke(record: logging.LogRecord) -> bool:
    """Tell whether a line is of an error that nobody expected; an answer that ends early is told by the app."""
    return record.exc_info is not None


def listen(port: int) -> socket.socket:
    """Return a socket on 127.0.0.1. Raises UserError where the port cannot be had."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", port))
        listening.listen(128)
    except OSError as error:
        listening.close()
        why = "is in use" if error.errno == errno.EADDRINUSE else f"cannot be used: {error.strerror}"
        hint = "Another proxy may serve there. Choose another port: platforms.proxy.port."
        raise UserError(f"Port {port} of this machine {why}.", hint=hint) from None
    listening.setblocking(False)
    return listening


async def serve(
    app: "App", listening: socket.socket, *, up: Callable[[Callable[[], None]], None] = lambda _: None
) -> None:
    """Answer until cancelled, or until ``up`` ends it by the function that it is given at the beginning."""
    import uvicorn
    from uvicorn.protocols.http.h11_impl import H11Protocol

    log = logging.getLogger("hermes_platform_proxy.uvicorn")
    log.setLevel(logging.ERROR)
    log.addFilter(_broke)

    class Protocol(H11Protocol):
        """Says what broke, and leaves to the app what it says itself."""

        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            self.logger = log

    class Quiet(uvicorn.Server):
        """Leaves signals to the program that it runs in."""

        @contextlib.contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

    config = uvicorn.Config(
        app,
        http=Protocol,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        limit_concurrency=_AT_ONCE,
        timeout_graceful_shutdown=1,
    )
    server = Quiet(config)

    def end() -> None:
        server.should_exit = True

    up(end)
    try:
        await server.serve(sockets=[listening])
    finally:
        listening.close()
