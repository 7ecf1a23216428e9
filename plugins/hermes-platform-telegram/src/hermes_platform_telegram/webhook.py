"""A small HTTP server that takes updates, and nothing else.

An update is answered with 200 only when it is stored; until then Telegram keeps it and sends it again.
"""

import asyncio
import hmac
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from hermes_core.errors import UserError
from hermes_core.types import JSON

if TYPE_CHECKING:
    import h11

__all__ = ["Webhook"]

_BODY = 4_000_000  # bytes of an update
_CONNECTIONS = 64
_IDLE = 90.0  # seconds a connection may be silent
_HEADER = b"x-telegram-bot-api-secret-token"
_STORED = 25.0  # seconds


class Webhook:
    """Listens on one address. ``take`` gets an update and says whether it is stored."""

    def __init__(
        self, path: str, secret: str, take: Callable[[Mapping[str, JSON], float], Awaitable[bool]], log: logging.Logger
    ) -> None:
        self._path = path or "/"
        self._secret = secret.encode()
        self._take = take
        self._log = log
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0

    async def start(self, host: str, port: int) -> None:
        """Begin to listen. Raises UserError when the address cannot be had."""
        try:
            self._server = await asyncio.start_server(self._accept, host, port)
        except OSError as error:
            raise UserError(
                f"The webhook cannot listen on {host}:{port}: {error.strerror or error}.",
                hint="Set platforms.telegram.webhook_host and webhook_port to an address that is free here.",
            ) from error
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """End it, and every connection."""
        if self._server:
            self._server.close()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        if self._server:
            await self._server.wait_closed()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None or len(self._tasks) >= _CONNECTIONS:
            writer.transport.abort()
            return
        self._tasks.add(task)
        try:
            await self._serve(reader, writer)
        except (OSError, asyncio.CancelledError):
            pass  # gone, silent, or we are closing; what was not answered comes again
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        import h11

        connection = h11.Connection(h11.SERVER)
        while True:
            try:
                status = await self._one(connection, reader)
            except h11.RemoteProtocolError as error:
                status = error.error_status_hint
            if not status:
                return
            answer = h11.Response(status_code=status, headers=[("content-length", "0")])
            with suppress(h11.LocalProtocolError):
                for event in (answer, h11.EndOfMessage()):
                    writer.write(connection.send(event) or b"")
            await writer.drain()
            if connection.our_state is not h11.DONE or connection.their_state is not h11.DONE:
                return
            connection.start_next_cycle()

    async def _one(self, connection: "h11.Connection", reader: asyncio.StreamReader) -> int:
        """The status that answers the next request; 0 when there is none. Who lacks the secret is not listened to."""
        import h11

        request = await _event(connection, reader)
        if not isinstance(request, h11.Request):
            return 0
        if not hmac.compare_digest(dict(request.headers).get(_HEADER, b""), self._secret):
            self._log.warning("The webhook refused a request without the secret.")
            return 401
        if request.target.partition(b"?")[0] != self._path.encode():
            return 404
        if request.method != b"POST":
            return 405
        body = bytearray()
        while isinstance(event := await _event(connection, reader), h11.Data):
            body += event.data
            if len(body) > _BODY:
                return 413
        return await self._judge(bytes(body)) if isinstance(event, h11.EndOfMessage) else 0

    async def _judge(self, body: bytes) -> int:
        """The status that answers an update."""
        try:
            update = json.loads(body)
            return 200 if await self._take(update, _STORED) else 503
        except (ValueError, KeyError, TypeError, RecursionError):
            self._log.warning("The webhook got something that is no update.")
            return 400
        except OSError as error:
            self._log.warning("An update could not be kept: %s", error)
            return 503


async def _event(connection: "h11.Connection", reader: asyncio.StreamReader) -> object:
    """The next piece of what the other side says. Raises TimeoutError, OSError and h11.RemoteProtocolError."""
    import h11

    while (event := connection.next_event()) is h11.NEED_DATA:
        async with asyncio.timeout(_IDLE):
            connection.receive_data(await reader.read(65_536))
    return event
