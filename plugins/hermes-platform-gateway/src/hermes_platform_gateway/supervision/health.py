"""Two questions over HTTP for whoever keeps the gateway running: does it live, may it be given work.

``/healthz`` answers as long as the event loop does: restarting this process would mend nothing else. ``/readyz`` asks
the store, and says no before the start is done and from the moment that a stop begins. Nothing else is told here, so
that it may be reached by a probe without a key.
"""

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress

from hermes_core.errors import UserError
from hermes_platform_gateway.supervision.notify import Pulse

__all__ = ["Health"]

_LONGEST_REQUEST = 8192  # bytes
_PATIENCE = 5.0  # seconds for a request to come
_STORE = 2.0  # seconds for the store to answer
_WORDS = {200: "OK", 400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed", 503: "Service Unavailable"}


class Health:
    """A listener for probes. ``waits`` says why no work may be given now; an empty text when it may."""

    def __init__(self, pulse: Pulse, waits: Callable[[], str]) -> None:
        self._pulse, self._waits = pulse, waits
        self._server: asyncio.Server | None = None
        self.port = 0

    async def open(self, host: str, port: int) -> None:
        """Listen; ``port`` is known afterwards, also where 0 was asked for. Raises UserError."""
        try:
            self._server = await asyncio.start_server(self._serve, host, port, limit=_LONGEST_REQUEST, backlog=64)
        except OSError as error:
            raise UserError(
                f"The gateway cannot listen for probes at {host}:{port}: {error.strerror or error}.",
                hint="Choose another gateway.health.host or gateway.health.port.",
            ) from error
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Stop listening."""
        if self._server:
            self._server.close()
        self._pulse.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError, TimeoutError):
            try:
                async with asyncio.timeout(_PATIENCE):
                    head = await reader.readuntil(b"\r\n\r\n")
                status, told = await self._answer(head.split(b"\r\n", 1)[0])
            except asyncio.LimitOverrunError:
                status, told, head = 400, "too long", b""
            body = json.dumps({"status": told}).encode() + b"\n"
            lines = (
                f"HTTP/1.1 {status} {_WORDS[status]}",
                "Content-Type: application/json",
                f"Content-Length: {len(body)}",
                "Cache-Control: no-store",
                "Connection: close",
            )
            writer.write("\r\n".join((*lines, "", "")).encode() + (b"" if head.startswith(b"HEAD ") else body))
            async with asyncio.timeout(_PATIENCE):
                await writer.drain()
        writer.close()

    async def _answer(self, request: bytes) -> tuple[int, str]:
        method, path, version = (*request.split(b" "), b"", b"", b"")[:3]
        if not version.startswith(b"HTTP/1."):
            return 400, "not understood"
        if method not in (b"GET", b"HEAD"):
            return 405, "only GET is answered"
        match path.split(b"?", 1)[0]:
            case b"/healthz":
                return 200, "ok"
            case b"/readyz":
                why = self._waits() or ("the store does not answer" if await self._pulse.beats(_STORE) else "")
                return (503, why) if why else (200, "ok")
        return 404, "there is /healthz and /readyz"
