"""A reply as it comes: its first bytes, no more of it than makes sense, and no longer a silence than was agreed."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterable

from hermes_core.errors import Unavailable
from hermes_core.types import Blob, Request, ToolResult
from hermes_provider_kit.failures import Service, redact
from hermes_provider_kit.transport import silence

__all__ = ["Patience", "broken_event", "drain", "first_bytes", "names_files", "read_bytes", "read_capped"]

FAILURE_CAP = 256 * 1024  # bytes of a failed reply that are read
FIRST_CAP = 64 * 1024  # bytes of white space before a reply begins
CLOSE_SECONDS = 0.25  # how long to wait for the end of a body, so that its connection can be used again
BOM = b"\xef\xbb\xbf"


class Patience:
    """End a reply that only keeps the connection alive: that is silence too, and no time-out sees it."""

    def __init__(self, service: Service, seconds: float) -> None:
        self._service, self._seconds, self._heard = service, seconds, time.monotonic()

    def hear(self, *, something: bool) -> None:
        """Take note of bytes that said ``something`` or nothing. Raises Unavailable."""
        if something:
            self._heard = time.monotonic()
        elif time.monotonic() - self._heard > self._seconds:
            raise silence(self._service, self._seconds)


async def first_bytes(pieces: AsyncIterator[bytes]) -> bytes:
    """Read until something is said, which shows what kind of reply it is; a mark of the byte order is left out."""
    first = b""
    while len(first) < FIRST_CAP and not first.strip(b" \t\r\n" + BOM):
        piece = await anext(pieces, b"")
        if not piece:
            break
        first += piece
    return first.removeprefix(BOM)


async def read_capped(pieces: AsyncIterator[bytes], cap: int = FAILURE_CAP) -> str:
    """Read at most so many bytes of a body that may be endless, as text."""
    return (await read_bytes(pieces, cap)).decode("utf-8", "replace")


async def read_bytes(pieces: AsyncIterator[bytes], cap: int) -> bytes:
    """Read at most so many bytes of a body that may be endless."""
    body = bytearray()
    async for piece in pieces:
        body += piece
        if len(body) >= cap:
            break
    return bytes(body[:cap])


async def drain(pieces: AsyncIterator[bytes]) -> None:
    """Wait a moment for the end of a body whose reply is whole; only then can its connection be used again."""
    import httpx2

    try:
        async with asyncio.timeout(CLOSE_SECONDS):
            async for _ in pieces:
                pass
    except (TimeoutError, httpx2.HTTPError, httpx2.StreamError):
        pass


def names_files(request: Request) -> bool:
    """Tell whether the body of a request holds files, which are read in a thread; all else is quicker than the hop."""
    return any(_names_files(message.parts) for message in request.messages)


def _names_files(parts: Iterable[object]) -> bool:
    return any(isinstance(p, Blob) or (isinstance(p, ToolResult) and _names_files(p.parts)) for p in parts)


def broken_event(service: Service, payload: str) -> Unavailable:
    """Make the error for an event of a stream that is not JSON; without a payload it was nested too deeply."""
    shown = redact(" ".join(payload.split())[:200], service.key)
    text = f"{service.title} sent an event that is not JSON: {shown or 'nested too deeply'}"
    return Unavailable(text, hint=service.place_hint)
