"""Requests without a proxy, as a transport of ``httpx2``: HTTP/1.1 by ``h11`` on the connections of ``asyncio``.

The library's own transport serves two kinds of event loop, sync callers and HTTP/2, and imports what each of them
needs: a tenth of the time until a first answer. The client above it stays the library's: addresses, headers, cookies,
compressed bodies, what is followed. Its errors are raised here too.
"""

import asyncio
import os
import select
import ssl
import sys
from collections import deque
from collections.abc import AsyncIterator, Callable, Generator, Mapping
from contextlib import contextmanager
from typing import TypeAlias

import h11
import httpx2

__all__ = ["DirectTransport", "distrusting", "trusting"]

HEAD = 100 * 1024  # bytes of a reply's head, or of one line between its chunks; more is not a service's
AHEAD = 256 * 1024  # bytes that are taken before they are asked for

Origin: TypeAlias = tuple[str, str, int]


def trusting() -> ssl.SSLContext:
    """Make a context that trusts whom this machine trusts."""
    told = os.environ.get("SSL_CERT_FILE") or os.environ.get("SSL_CERT_DIR")
    paths = ssl.get_default_verify_paths()
    file = paths.openssl_cafile if os.path.isfile(paths.openssl_cafile) else None  # noqa: PTH113
    folder = paths.openssl_capath if os.path.isdir(paths.openssl_capath) else None  # noqa: PTH112
    known = file or (folder and any(name[8:] == ".0" for name in os.listdir(folder)))  # noqa: PTH208
    if told or not known or sys.platform != "linux":
        return httpx2.create_ssl_context()  # which knows where else certificates are kept
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(file, folder)
    return context


def distrusting() -> ssl.SSLContext:
    """Make a context that trusts nobody."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


class _Link(asyncio.Protocol):
    """One connection. What came is there to be read, also when sending failed: the reply may say why it did."""

    def __init__(self, keep: int) -> None:
        self.http = h11.Connection(h11.CLIENT, max_incomplete_event_size=keep)
        self.rested = 0.0
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._came = bytearray()
        self._ended = self._full = False
        self._error: Exception | None = None
        self._waiter: asyncio.Future[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._came += data
        if len(self._came) > AHEAD and self._transport:
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> None:
        self._ended = True
        self._wake()

    def connection_lost(self, error: Exception | None) -> None:
        self._ended, self._error = True, error
        self._wake()

    def pause_writing(self) -> None:
        self._full = True

    def resume_writing(self) -> None:
        self._full = False
        self._wake()

    @property
    def rests(self) -> bool:
        """Whether it can be used again: all is sent, nothing came unasked, and nobody hung up."""
        if self._ended or self._came or self._full or self._transport is None or self._transport.is_closing():
            return False
        arrived = select.poll()  # the event loop may not have heard of it yet
        arrived.register(self._transport.get_extra_info("socket"), select.POLLIN)
        return not arrived.poll(0)

    async def send(self, data: bytes, seconds: float | None) -> None:
        """Send, until it is on its way or the other side speaks. Raises TimeoutError."""
        assert self._transport
        self._transport.write(data)
        while self._full and not (self._ended or self._came):
            await self._wait(seconds)

    async def read(self, seconds: float | None) -> bytes:
        """Read what there is; nothing at the end. Raises TimeoutError, OSError."""
        while not (self._ended or self._came):
            await self._wait(seconds)
        data = bytes(self._came)
        self._came.clear()
        if not data and self._error:
            raise self._error
        if len(data) > AHEAD and self._transport and not self._ended:
            self._transport.resume_reading()
        return data

    def hang_up(self) -> None:
        """Let go of it at once, whatever is under way."""
        if self._transport:
            self._transport.abort()

    async def _wait(self, seconds: float | None) -> None:
        self._waiter = self._loop.create_future()
        async with asyncio.timeout(seconds):
            await self._waiter

    def _wake(self) -> None:
        if self._waiter and not self._waiter.done():
            self._waiter.set_result(None)


class _Body(httpx2.AsyncByteStream):
    """The body of a reply; its connection is used again when it was read to the end."""

    def __init__(self, link: _Link, seconds: float | None, done: Callable[[], object]) -> None:
        self._link, self._seconds, self._done = link, seconds, done

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            while isinstance(event := await _event(self._link, self._seconds), h11.Data):
                yield bytes(event.data)
        except BaseException:
            self._link.hang_up()
            raise

    async def aclose(self) -> None:
        done, self._done = self._done, int
        done()


class DirectTransport(httpx2.AsyncBaseTransport):
    """Asks a service itself, and keeps connections for the next request.

    Args:
        context: Makes the context of TLS, when it is first needed.
        limits: How many connections rest, and for how long.
    """

    def __init__(self, context: Callable[[], ssl.SSLContext], limits: httpx2.Limits) -> None:
        self._make_context = context
        self._context: ssl.SSLContext | None = None
        self._most = limits.max_keepalive_connections
        self._seconds = limits.keepalive_expiry
        self._resting: dict[Origin, deque[_Link]] = {}
        self._all: set[_Link] = set()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request and read the head of its reply. Raises httpx2.HTTPError."""
        seconds: Mapping[str, float | None] = request.extensions.get("timeout", {})
        if request.url.scheme not in ("http", "https"):
            raise httpx2.UnsupportedProtocol(f"{request.url.scheme or 'nothing'} is not http or https")
        with _told():
            head = h11.Request(method=request.method, target=request.url.raw_path, headers=request.headers.raw)
        assert isinstance(request.stream, httpx2.AsyncByteStream)
        body = [piece async for piece in request.stream]
        secure = request.url.scheme == "https"
        origin = request.url.scheme, request.url.raw_host.decode("ascii"), request.url.port or (443 if secure else 80)
        link = self._rested(origin) or await self._connect(origin, seconds.get("connect"))
        try:
            with _told():
                events = (head, *(h11.Data(data=piece) for piece in body), h11.EndOfMessage())
                data = b"".join(filter(None, map(link.http.send, events)))
            try:
                await link.send(data, seconds.get("write"))
            except TimeoutError as error:
                raise httpx2.WriteTimeout(str(error)) from error
            while not isinstance(event := await _event(link, seconds.get("read")), h11.Response):
                pass  # what is said before a reply
        except BaseException:
            self._drop(link)
            raise
        return httpx2.Response(
            event.status_code,
            headers=event.headers.raw_items(),
            stream=_Body(link, seconds.get("read"), lambda: self._rest(origin, link)),
            extensions={"http_version": b"HTTP/" + event.http_version, "reason_phrase": event.reason},
        )

    async def aclose(self) -> None:
        """Let go of all connections."""
        for link in tuple(self._all):
            self._drop(link)
        self._resting.clear()

    async def _connect(self, origin: Origin, seconds: float | None) -> _Link:
        scheme, host, port = origin
        if scheme == "https" and self._context is None:
            self._context = self._make_context()
            self._context.set_alpn_protocols(["http/1.1"])
        secure = self._context if scheme == "https" else None
        try:
            async with asyncio.timeout(seconds):
                _, link = await asyncio.get_running_loop().create_connection(
                    lambda: _Link(HEAD), host, port, ssl=secure, happy_eyeballs_delay=0.25
                )
        except TimeoutError as error:
            raise httpx2.ConnectTimeout(str(error)) from error
        except (OSError, UnicodeError) as error:  # the latter for what cannot be a name
            raise httpx2.ConnectError(str(error)) from error
        self._all.add(link)
        return link

    def _rested(self, origin: Origin) -> _Link | None:
        resting, now = self._resting.get(origin), asyncio.get_running_loop().time()
        while resting:
            link = resting.pop()  # the one that rests least: the others may end
            if link.rests and (self._seconds is None or now - link.rested < self._seconds):
                return link
            self._drop(link)
        return None

    def _rest(self, origin: Origin, link: _Link) -> None:
        """Keep a connection whose exchange is whole, and no more of them than are wanted; let go of any other."""
        whole = link.http.our_state is link.http.their_state is h11.DONE and not link.http.trailing_data[0]
        if not (whole and link.rests and link in self._all):
            self._drop(link)
            return
        link.http.start_next_cycle()
        link.rested = asyncio.get_running_loop().time()
        resting = self._resting.setdefault(origin, deque())
        resting.append(link)
        while self._most is not None and len(resting) > self._most:
            self._drop(resting.popleft())

    def _drop(self, link: _Link) -> None:
        self._all.discard(link)
        link.hang_up()


async def _event(link: _Link, seconds: float | None) -> object:
    """Read the next thing that is said. Raises httpx2.HTTPError."""
    with _told():
        while (event := link.http.next_event()) is h11.NEED_DATA:
            try:
                data = await link.read(seconds)
            except TimeoutError as error:
                raise httpx2.ReadTimeout(str(error)) from error
            except OSError as error:
                raise httpx2.ReadError(str(error)) from error
            if not data and link.http.their_state is h11.SEND_RESPONSE:
                raise httpx2.RemoteProtocolError("hung up without a reply")
            link.http.receive_data(data)
        return event


@contextmanager
def _told() -> Generator[None]:
    """Turn what ``h11`` says of a request or a reply into the errors of the client."""
    try:
        yield
    except h11.RemoteProtocolError as error:
        raise httpx2.RemoteProtocolError(str(error)) from error
    except h11.LocalProtocolError as error:
        raise httpx2.LocalProtocolError(str(error)) from error
