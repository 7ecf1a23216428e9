"""A reply as it comes: its first bytes, no more of it than makes sense, and no longer a silence than was agreed."""

import asyncio
import time
from collections.abc import AsyncIterator, Generator
from contextlib import contextmanager

from hermes_core.errors import Unavailable
from hermes_core.types import Blob, Request, ToolResult
from hermes_provider_kit.failures import Service, redact
from hermes_provider_kit.sse import BrokenEvent
from hermes_provider_kit.transport import endless, network_failure, silence

__all__ = ["Patience", "broken_event", "drain", "first_bytes", "names_files", "read_bytes", "read_capped", "told"]

FAILURE_CAP = 256 * 1024  # bytes of a failed reply that are read
FIRST_CAP = 64 * 1024  # bytes of white space before a reply begins
CLOSE_SECONDS = 0.25  # how long to wait for the end of a body, so that its connection can be used again
WHOLE_FACTOR = 30  # times the longest silence that a reply may take in all: an hour for a hosted service
WHOLE_BYTES = 128 * 1024 * 1024  # of a reply as it is sent; the longest ones of today have a third of that
BOM = b"\xef\xbb\xbf"


class Patience:
    """End a reply that no time-out sees: one that only keeps the connection alive, and one that has no end.

    A reply may take ``WHOLE_FACTOR`` times the ``seconds`` of the longest silence, and ``WHOLE_BYTES``.
    """

    def __init__(self, service: Service, seconds: float) -> None:
        self._service, self._seconds = service, seconds
        self._began = self._heard = time.monotonic()
        self._bytes = 0

    def hear(self, *, something: bool, size: int = 0) -> None:
        """Take note of ``size`` bytes that said ``something`` or nothing. Raises Unavailable."""
        now = time.monotonic()
        self._bytes += size
        if something:
            self._heard = now
        elif now - self._heard > self._seconds:
            raise silence(self._service, self._seconds)
        if now - self._began > WHOLE_FACTOR * self._seconds or self._bytes > WHOLE_BYTES:
            raise endless(self._service, now - self._began, self._bytes)


async def first_bytes(pieces: AsyncIterator[bytes], patience: Patience | None = None) -> bytes:
    """Read until something is said, which shows what kind of reply it is; a mark of the byte order is left out.

    Raises:
        Unavailable: For longer than ``patience`` has, nothing but white space came.
    """
    first = b""
    while len(first) < FIRST_CAP and not first.strip(b" \t\r\n" + BOM):
        if patience is not None:
            patience.hear(something=False)
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


def names_files(request: Request, after: int = 0) -> bool:
    """Tell whether the body of a request holds files, which are read in a thread; all else is quicker than the hop.

    Of the first messages, up to ``after``, it is known that they hold none.
    """
    for message in request.messages[after:]:  # written out, as each request goes through its whole conversation
        for part in message.parts:
            inner = part.parts if isinstance(part, ToolResult) else (part,)
            for one in inner:
                if isinstance(one, Blob):
                    return True
    return False


def broken_event(service: Service, payload: str) -> Unavailable:
    """Make the error for an event of a stream that is not JSON; without a payload it was nested too deeply."""
    shown = redact(" ".join(payload.split())[:200], service.key)
    text = f"{service.title} sent an event that is not JSON: {shown or 'nested too deeply'}"
    return Unavailable(text, hint=service.place_hint)


@contextmanager
def told(service: Service, seconds: float) -> Generator[None]:
    """Turn whatever goes wrong on the way, or in what came, into the error that says so.

    Args:
        service: Who is asked.
        seconds: After how long a silence it is given up.

    Raises:
        ProviderError: The service could not be reached, broke off or sent what is no JSON.
    """
    import httpx2

    try:
        yield
    except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, OSError) as error:
        raise network_failure(service, error, seconds) from error
    except (BrokenEvent, RecursionError) as error:
        raise broken_event(service, getattr(error, "payload", "")) from error
