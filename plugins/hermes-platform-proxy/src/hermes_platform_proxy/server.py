"""The HTTP server, on this machine alone and inside an event loop that is not its own."""

import contextlib
import errno
import socket
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from hermes_core.errors import UserError

if TYPE_CHECKING:
    from hermes_platform_proxy.app import App

__all__ = ["listen", "serve"]

_AT_ONCE = 64  # requests; a program that asks for more waits for none, and is told


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

    class Quiet(uvicorn.Server):
        """Leaves signals to the program that it runs in."""

        @contextlib.contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

    config = uvicorn.Config(
        app,
        http="h11",
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
