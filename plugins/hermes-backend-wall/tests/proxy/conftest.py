"""A proxy, servers behind it, and clients that say what they like."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, Self

import pytest

from hermes_backend_wall.proxy.bounds import Bounds
from hermes_backend_wall.proxy.passages import Passage
from hermes_backend_wall.proxy.rules import Rule, Rules
from hermes_backend_wall.proxy.server import Proxy

CERTIFICATE = Path(__file__).parent / "localhost.pem"  # of localhost, one, two, index and git below it
SWIFT = Bounds(head_seconds=0.5, dial_seconds=2, idle_seconds=5, ask_seconds=1)


def hello(name: str | None, *, longest: int | None = None) -> bytes:
    """The first bytes of a real client of TLS; ``longest`` bounds the bytes of each of its records."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    context = ssl.create_default_context()
    context.check_hostname = False
    with pytest.raises(ssl.SSLWantReadError):
        context.wrap_bio(incoming, outgoing, server_hostname=name).do_handshake()
    raw = outgoing.read()
    return raw if longest is None else in_records(raw[5:], longest)


def in_records(message: bytes, longest: int) -> bytes:
    pieces = [message[at : at + longest] for at in range(0, len(message), longest)]
    return b"".join(b"\x16\x03\x01" + len(piece).to_bytes(2, "big") + piece for piece in pieces)


class Server:
    """A server on loopback. ``got`` is what each connection sent; ``answer`` says what happens with one."""

    def __init__(self, answer: Callable[..., Any] | bytes, tls: ssl.SSLContext | None = None) -> None:
        self._answer = answer
        self._tls = tls
        self.got: list[bytes] = []

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number = len(self.got)
        self.got.append(b"")
        try:
            if isinstance(self._answer, bytes):
                while b"\r\n\r\n" not in self.got[number] or not self.got[number].endswith(b"\n"):
                    if not (data := await reader.read(65_536)):
                        return
                    self.got[number] += data
                writer.write(self._answer)
                await writer.drain()
            else:
                await self._answer(self, number, reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


async def echo(server: Server, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65_536):
        server.got[number] += data
        writer.write(data)
        await writer.drain()
    writer.write(b"|end")
    await writer.drain()


class Door:
    """A running proxy. ``passages`` are what it told, ``lookups`` the names it resolved."""

    def __init__(self) -> None:
        self.passages: list[Passage] = []
        self.lookups: list[str] = []
        self.addresses: dict[str, list[str]] = {}
        self._proxies: list[Proxy] = []

    async def open(self, *rules: str | Rule, **options: Any) -> "Door":
        read = [Rule.read(rule, private=True, source="test") if isinstance(rule, str) else rule for rule in rules]
        options = {"bounds": SWIFT, "lookup": self._look_up, "on_passage": self.passages.append, **options}
        self.proxy = Proxy(Rules(read), options.pop("ask", None), **options)
        self._proxies.append(self.proxy)
        self.port = await self.proxy.listen()
        return self

    async def _look_up(self, host: str, port: int) -> list[str]:
        self.lookups.append(host)
        return self.addresses.get(host, ["127.0.0.1"])

    async def connect(self) -> "Client":
        return Client(*await asyncio.open_connection("127.0.0.1", self.port))

    async def tunnel(self, host: str, port: int) -> "Client":
        client = await self.connect()
        assert await client.ask_tunnel(host, port) == 200
        return client

    async def said(self, request: bytes) -> bytes:
        """All that comes back for some bytes, up to the end of the connection."""
        client = await self.connect()
        await client.send(request)
        return await client.rest()

    @property
    def last(self) -> Passage:
        return self.passages[-1]

    async def close(self) -> None:
        for proxy in self._proxies:
            await proxy.close()


class Client:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def ask_tunnel(self, host: str, port: int, *headers: str) -> int:
        lines = [f"CONNECT {host}:{port} HTTP/1.1", f"Host: {host}:{port}", *headers, "", ""]
        await self.send("\r\n".join(lines).encode())
        return int((await self.reader.readuntil(b"\r\n\r\n")).split(b" ")[1])

    async def answer(self) -> tuple[int, bytes]:
        """Status and body of a response that says its length or comes in chunks."""
        head = (await self.reader.readuntil(b"\r\n\r\n")).lower()
        status = int(head.split(b" ")[1])
        if b"transfer-encoding: chunked" in head:
            body = b""
            while size := int(await self.reader.readline(), 16):
                body += await self.reader.readexactly(size)
                await self.reader.readline()
            await self.reader.readline()
            return status, body
        length = head.partition(b"content-length: ")[2].partition(b"\r\n")[0]
        return status, await self.reader.readexactly(int(length or 0))

    async def rest(self) -> bytes:
        try:
            return await self.reader.read()
        except ConnectionError:
            return b""
        finally:
            self.writer.close()


@pytest.fixture
async def door() -> AsyncIterator[Door]:
    door = Door()
    yield door
    await door.close()


@pytest.fixture
def tls() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    return context
