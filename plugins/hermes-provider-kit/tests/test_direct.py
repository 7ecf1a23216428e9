"""A service asked without a proxy: what its connections bear, on real sockets."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest

from hermes_provider_kit.direct import DirectTransport, distrusting, trusting

CERTIFICATE = Path(__file__).parents[2] / "hermes-tool-kit" / "tests" / "pinned.example.pem"
OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def heard(reader: asyncio.StreamReader) -> bytes:
    """One request, whole."""
    head = await reader.readuntil(b"\r\n\r\n")
    size = next((int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0)
    return head + await reader.readexactly(size)


def says(*replies: bytes) -> Answer:
    """A server that answers the requests of a connection one after another, then hangs up."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for reply in replies:
            await heard(reader)
            writer.write(reply)
            await writer.drain()

    return answer


class Service:
    """Where it listens, and how many connections were made to it."""

    def __init__(self, url: str) -> None:
        self.url, self.connections = url, 0


@asynccontextmanager
async def served(answer: Answer, *, tls: ssl.SSLContext | None = None) -> AsyncIterator[Service]:
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        service.connections += 1
        tasks.add(asyncio.current_task())
        try:
            await answer(reader, writer)
        except (OSError, EOFError):
            pass
        finally:
            writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls) as listening:
        scheme = "https" if tls else "http"
        service = Service(f"{scheme}://127.0.0.1:{listening.sockets[0].getsockname()[1]}/")
        try:
            yield service
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def asking(seconds: float = 5.0, *, context=distrusting, most: int = 100, rest: float = 5.0):
    limits = httpx2.Limits(max_keepalive_connections=most, keepalive_expiry=rest)
    transport = DirectTransport(context, limits)
    async with httpx2.AsyncClient(transport=transport, timeout=seconds, trust_env=False) as client:
        yield client


async def test_a_connection_is_used_again_when_its_reply_was_read() -> None:
    async with served(says(OK, OK, OK)) as service, asking() as client:
        for _ in range(3):
            assert (await client.post(service.url, content=b"x" * 9)).text == "ok"
        assert service.connections == 1


@pytest.mark.parametrize("how", ["half read", "hung up", "too old", "one too many", "told to close", "spoke unasked"])
async def test_a_connection_that_cannot_be_trusted_is_not(how: str) -> None:
    first = OK.replace(b"content", b"connection: close\r\ncontent") if how == "told to close" else OK
    first += b"HTTP/1.1 200 OK\r\n" if how == "spoke unasked" else b""
    answer = says(first) if how == "hung up" else says(first, OK)
    options = {"too old": {"rest": 0.0}, "one too many": {"most": 0}}.get(how, {})
    async with served(answer) as service, asking(**options) as client:
        async with client.stream("GET", service.url) as reply:
            if how != "half read":
                await reply.aread()
        if how == "hung up":
            while any(link.rests for link in client._transport._all):
                await asyncio.sleep(0)
        assert (await client.get(service.url)).text == "ok"
        assert service.connections == 2


async def test_requests_at_once_have_a_connection_each() -> None:
    async with served(says(OK, OK)) as service, asking() as client:
        replies = await asyncio.gather(*(client.get(service.url) for _ in range(8)))
        assert [reply.text for reply in replies] == ["ok"] * 8
        assert 1 < service.connections <= 8


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2;a=b\r\nhe\r\n3\r\nllo\r\n0\r\nlate: 1\r\n\r\n",
            "hello",
        ),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nlink: x\r\n\r\n" + OK, "ok"),
        (b"HTTP/1.0 200 OK\r\n\r\nto the end", "to the end"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", ""),
    ],
)
async def test_replies_of_every_sort_are_read_however_they_are_cut(reply: bytes, text: str) -> None:
    async def bit_by_bit(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await heard(reader)
        for at in range(len(reply)):
            writer.write(reply[at : at + 1])
            await writer.drain()
            await asyncio.sleep(0)

    async with served(bit_by_bit) as service, asking() as client:
        assert (await client.get(service.url)).text == text


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (b"", httpx2.RemoteProtocolError),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nok", httpx2.RemoteProtocolError),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n", httpx2.RemoteProtocolError),
        (b"SSH-2.0-OpenSSH\r\n\r\n", httpx2.RemoteProtocolError),
        (b"HTTP/1.1 101 Other\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n", httpx2.RemoteProtocolError),
        (b"HTTP/1.1 200 OK\r\nx: " + b"y" * 200_000, httpx2.RemoteProtocolError),
        (b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\nok", httpx2.DecodingError),
    ],
)
async def test_what_is_no_whole_reply_is_an_error_of_the_client(reply: bytes, error: type[Exception]) -> None:
    async with served(says(reply)) as service, asking() as client:
        with pytest.raises(error):
            await client.get(service.url)
        assert not client._transport._all


async def test_a_service_that_refuses_in_the_middle_of_a_request_is_heard() -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too Large\r\ncontent-length: 3\r\nconnection: close\r\n\r\nbig")
        await writer.drain()
        await asyncio.sleep(0.2)  # and nothing more is read

    async with served(refuse) as service, asking() as client:
        reply = await client.post(service.url, content=b"x" * 20_000_000)
        assert (reply.status_code, reply.text) == (413, "big")


async def test_silence_is_a_timeout_that_says_of_what() -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    async with served(silent) as service, asking(0.05) as client:
        with pytest.raises(httpx2.ReadTimeout):
            await client.get(service.url)
        with pytest.raises(httpx2.WriteTimeout):
            await client.post(service.url, content=b"x" * 20_000_000)
    with pytest.raises(httpx2.ConnectError):
        async with asking() as client:
            await client.get(service.url)


async def test_who_stops_waiting_leaves_no_connection_behind() -> None:
    async def begun(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await heard(reader)
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nok")
        await writer.drain()
        asked.set()
        await reader.read()
        gone.set()

    asked, gone = asyncio.Event(), asyncio.Event()
    async with served(begun) as service, asking() as client:
        waiting = asyncio.create_task(client.get(service.url))
        await asked.wait()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert not client._transport._all
        async with asyncio.timeout(5):
            await gone.wait()


async def test_more_than_is_asked_for_waits_in_the_network() -> None:
    sent = 0

    async def pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        await heard(reader)
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 60000000\r\n\r\n")
        for _ in range(60):
            writer.write(b"x" * 1_000_000)
            await writer.drain()
            sent += 1_000_000

    async with served(pour) as service, asking() as client, client.stream("GET", service.url) as reply:
        before = -1
        while before != sent:
            before = sent
            await asyncio.sleep(0.1)
        assert sent < 30_000_000
        assert sum([len(piece) async for piece in reply.aiter_raw()]) == 60_000_000


async def test_a_certificate_of_nobody_known_is_refused_and_a_known_one_is_not(monkeypatch) -> None:
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(CERTIFICATE)

    def knowing() -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=CERTIFICATE)
        context.check_hostname = False
        return context

    async with served(says(OK, OK), tls=server) as service:
        for context in (trusting, distrusting):
            async with asking(context=context) as client:
                with pytest.raises(httpx2.ConnectError, match="certificate verify failed"):
                    await client.get(service.url)
        async with asking(context=knowing) as client:
            for _ in range(2):
                assert (await client.post(service.url, content=b"x" * 300_000)).text == "ok"
            before = service.connections
            assert before <= 3
    assert trusting().check_hostname
    assert trusting().verify_mode is ssl.CERT_REQUIRED
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    assert len(trusting().get_ca_certs()) <= 1


async def test_what_is_no_request_is_said_before_anything_is_sent() -> None:
    async with served(says(OK)) as service, asking() as client:
        with pytest.raises(httpx2.LocalProtocolError):
            await client.get(service.url, headers={"x": "a\nb"})
        with pytest.raises(httpx2.UnsupportedProtocol):
            await client.get("ftp://127.0.0.1/")
        with pytest.raises(httpx2.ConnectError):
            await client.get(f"http://{'a' * 64}.invalid/")
        assert service.connections == 0
