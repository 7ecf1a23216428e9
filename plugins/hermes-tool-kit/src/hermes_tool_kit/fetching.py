"""Fetch a page that a model asked for, within the rules of ``addresses`` and within bounds.

GET, and nothing of the person goes along: no cookies, no credentials, no proxy of the environment (a proxy would
resolve names itself, behind the rules). A caller that has something to send says so by an Order. It speaks HTTP/1.1 on
one connection for each request, to the very address that was judged; the certificate is checked against the name.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from hermes_core import __version__
from hermes_core.context import UrlRules
from hermes_core.errors import OutOfReach, ToolError
from hermes_tool_kit.addresses import CheckedUrl, check_url, resolve

if TYPE_CHECKING:
    import ssl
    from zlib import _Decompress

__all__ = ["Fetched", "Order", "fetch"]

CONNECT_SECONDS = 10.0
_LINE = 65_536  # bytes of a header line, and of all of them
_CHUNK = 65_536
_MOVED = (301, 302, 303, 307, 308)


class Fetched(NamedTuple):
    """What came back. ``headers`` have lower-case names; ``url`` is where it came from in the end.

    ``cut`` says why the body is not whole, else it is empty. ``moved`` is the address of another site that this one
    refers to and that was not opened.
    """

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes
    cut: str = ""
    moved: str = ""


class Order(NamedTuple):
    """What a request is besides a GET: its method, more headers, a body. It goes to one address, wherever that leads.

    Names and values of headers must be those of HTTP, and none of ``Host``, ``Content-Length`` and the like.
    """

    method: str = "GET"
    headers: Mapping[str, str] = MappingProxyType({})
    body: bytes = b""


_PLAIN = Order()


async def fetch(
    url: str,
    rules: UrlRules,
    *,
    order: Order = _PLAIN,
    accept: str = "*/*",
    limit: int = 10_000_000,
    seconds: float = 30.0,
    redirects: int = 5,
    other_sites: bool = False,
) -> Fetched:
    """GET a URL. Every redirect is judged like the first URL, and one to another site is told, not followed.

    ``limit`` bounds the body in bytes, as sent and as unpacked; ``seconds`` bounds all of it. With ``other_sites``
    redirects to other sites are followed too. With an ``order`` none is followed: each is told as ``moved``.
    Raises OutOfReach when a rule forbids it, ToolError when it cannot be had.
    """
    first = target = check_url(url, rules)
    try:
        async with asyncio.timeout(seconds):
            for _ in range(redirects + 1):
                answer, onward = await _request(target, rules, accept, limit, order)
                if onward is None:
                    return answer
                if order is not _PLAIN or (not other_sites and not _same_site(target, onward)):
                    return answer._replace(moved=onward.url)
                target = onward
    except OutOfReach as error:
        error.opened |= target is not first
        raise
    except TimeoutError:
        raise ToolError(f"{target.host} did not answer in full within {seconds:g} seconds.") from None
    raise ToolError(f"{target.host} redirects more than {redirects} times; the last was to {target.url}", retry=False)


def _same_site(one: CheckedUrl, other: CheckedUrl) -> bool:
    ports = {(t.scheme, t.port) for t in (one, other)}
    same_port = one.port == other.port or ports == {("http", 80), ("https", 443)}
    return same_port and one.host.removeprefix("www.") == other.host.removeprefix("www.")


async def _request(
    target: CheckedUrl, rules: UrlRules, accept: str, limit: int, order: Order
) -> tuple[Fetched, CheckedUrl | None]:
    """One answer, and where it leads if it is a redirect."""
    reader, writer = await _connect(target, rules)
    try:
        lines = [
            f"{order.method} {target.path} HTTP/1.1",
            f"Host: {target.authority}",
            f"User-Agent: hermes/{__version__}",
        ]
        lines += [f"Accept: {accept}", "Accept-Encoding: gzip, deflate", "Connection: close"]
        lines += [f"{name}: {value}" for name, value in order.headers.items()]
        if order.method != "GET":
            lines.append(f"Content-Length: {len(order.body)}")
        writer.write("\r\n".join([*lines, "", ""]).encode("latin-1") + order.body)
        status, headers = await _head(reader)
        if status in _MOVED and (location := headers.get("location", "")):
            return Fetched(target.url, status, headers, b""), _onward(target, location, rules)
        body, cut = b"", ""
        if status not in (204, 304):
            body, cut = await _decoded(_body(reader, headers), headers.get("content-encoding", ""), limit)
        return Fetched(target.url, status, headers, body, cut), None
    except (OSError, EOFError, ValueError) as error:
        if isinstance(error, TimeoutError):
            raise
        raise ToolError(f"{target.host} does not speak proper HTTP here: {_said(error)}.") from error
    finally:
        writer.transport.abort()


def _onward(target: CheckedUrl, location: str, rules: UrlRules) -> CheckedUrl:
    from urllib.parse import urljoin

    try:
        onward = check_url(urljoin(target.url, location.strip().replace(" ", "%20")), rules)
    except (OutOfReach, ValueError) as error:
        text = error.text if isinstance(error, OutOfReach) else "it is no URL."
        raise OutOfReach(f"{target.host} redirects to what may not be opened. {text}", opened=True) from error
    if target.scheme == "https" and onward.scheme == "http":
        text = f"{target.host} redirects from https to http, to {onward.url}; that was not followed."
        raise OutOfReach(text, opened=True)
    return onward


async def _connect(target: CheckedUrl, rules: UrlRules) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    problem: Exception = ToolError("no address")
    secure = target.scheme == "https"
    for address in await resolve(target, rules):
        try:
            # An address is given, never the name: nothing is resolved again. The name stays in the TLS handshake.
            opening = asyncio.open_connection(
                address,
                target.port,
                ssl=_tls() if secure else None,
                server_hostname=target.host if secure else None,
                limit=_LINE,
            )
            return await asyncio.wait_for(opening, CONNECT_SECONDS)
        except (OSError, TimeoutError) as error:  # the next address may answer
            problem = error
    raise ToolError(f"{target.host} cannot be reached: {_said(problem)}.") from problem


@cache
def _tls() -> "ssl.SSLContext":
    import ssl

    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


def _said(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "it does not answer"
    text = getattr(error, "verify_message", "") or getattr(error, "strerror", "") or str(error) or type(error).__name__
    return f"{text[:200]!a}"[1:-1].rstrip(".")


async def _head(reader: asyncio.StreamReader) -> tuple[int, Mapping[str, str]]:
    for _ in range(5):  # answers that only announce another
        status = re.fullmatch(rb"HTTP/1\.[01] ([1-5]\d\d)(?: .*)?", (await reader.readline()).rstrip(b"\r\n"))
        if not status:
            raise ValueError("no status line")
        headers = await _headers(reader)
        if int(status[1]) >= 200:
            return int(status[1]), headers
    raise ValueError("it only announces an answer")


async def _headers(reader: asyncio.StreamReader) -> Mapping[str, str]:
    headers: dict[str, str] = {}
    size = 0
    while line := (written := await reader.readline()).rstrip(b"\r\n"):
        size += len(line)
        if size > _LINE:
            raise ValueError("its headers are too long")
        name, colon, value = line.partition(b":")
        if not colon or not re.fullmatch(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name):
            raise ValueError("a header is no header")
        key, text = name.decode("ascii").lower(), _text(value.strip())
        if key in ("content-length", "location") and headers.get(key, text) != text:
            raise ValueError(f"{key} is said twice")
        headers[key] = f"{headers[key]}, {text}" if key in headers and headers[key] != text else text
    if not written:
        raise EOFError("it ended in the headers")
    return headers


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


async def _body(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> AsyncIterator[bytes]:
    """The body's pieces as they were sent. Raises EOFError when it ends early, ValueError when it makes no sense."""
    coding = headers.get("transfer-encoding", "").lower()
    if coding not in ("", "identity", "chunked"):
        raise ValueError("an unknown transfer encoding")
    if coding == "chunked":
        while size := await _chunk_size(reader):
            async for piece in _exactly(reader, size):
                yield piece
            if (await reader.readline()).rstrip(b"\r\n"):
                raise ValueError("a chunk is longer than it said")
    elif length := headers.get("content-length", ""):
        if not re.fullmatch(r"\d{1,15}", length):
            raise ValueError("content-length is no number")
        async for piece in _exactly(reader, int(length)):
            yield piece
    else:
        while piece := await reader.read(_CHUNK):
            yield piece


async def _chunk_size(reader: asyncio.StreamReader) -> int:
    line = await reader.readline()
    if not line:
        raise EOFError
    size = re.fullmatch(rb"([0-9A-Fa-f]{1,12})[ \t]*(?:;.*)?", line.rstrip(b"\r\n"))
    if not size:
        raise ValueError("a chunk has no size")
    return int(size[1], 16)


async def _exactly(reader: asyncio.StreamReader, size: int) -> AsyncIterator[bytes]:
    while size:
        piece = await reader.read(min(size, _CHUNK))
        if not piece:
            raise EOFError
        size -= len(piece)
        yield piece


async def _decoded(pieces: AsyncIterator[bytes], encoding: str, limit: int) -> tuple[bytes, str]:
    """The unpacked body within the limit, and why it is not whole. Raises ValueError for an encoding not asked for."""
    unpacker = _Unpacker(encoding.strip().lower())
    body, sent = bytearray(), 0
    try:
        async for piece in pieces:
            sent += len(piece)
            body += unpacker.unpack(piece, limit + 1 - len(body))
            if len(body) > limit or sent > limit:
                return bytes(body[:limit]), f"it is longer than {limit:,} bytes"
    except EOFError:
        return bytes(body), "the server ended it early"
    return bytes(body), "" if unpacker.done else "the server ended it early"


class _Unpacker:
    """Unpacks a body piece by piece, never more than asked for."""

    def __init__(self, encoding: str) -> None:
        if encoding not in ("", "identity", "gzip", "x-gzip", "deflate"):
            raise ValueError("an encoding that was not asked for")
        self._packed = encoding not in ("", "identity")
        self._stream: _Decompress | None = None

    @property
    def done(self) -> bool:
        """Whether what was packed came to its end."""
        return self._stream is None or self._stream.eof

    def unpack(self, piece: bytes, room: int) -> bytes:
        """At most ``room`` bytes, one or more. Raises ValueError."""
        if not self._packed:
            return piece[:room]
        import zlib

        try:
            if self._stream is None:
                self._stream = zlib.decompressobj(47)
                try:
                    return self._stream.decompress(piece, room)
                except zlib.error:  # "deflate" without its header, as some servers send it
                    self._stream = zlib.decompressobj(-15)
            return b"" if self._stream.eof else self._stream.decompress(piece, room)  # it would keep all behind its end
        except zlib.error as error:
            raise ValueError("what it sent cannot be unpacked") from error
