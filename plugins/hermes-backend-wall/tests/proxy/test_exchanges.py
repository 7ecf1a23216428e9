"""Requests of plain HTTP: written anew, one after the other, each judged."""

import asyncio
from typing import Any

import pytest

from hermes_backend_wall.proxy.bounds import Bounds

from .conftest import Door, Server

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def get(port: int, host: str = "one.localhost", *headers: str, method: str = "GET") -> bytes:
    lines = [f"{method} http://{host}:{port}/a?b HTTP/1.1", f"Host: {host}:{port}", *headers, "", ""]
    return "\r\n".join(lines).encode()


async def keep(server: Server, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answers each request on a connection with how many there were."""
    count = 0
    while head := await reader.readuntil(b"\r\n\r\n"):
        count += 1
        server.got[number] += head
        body = str(count).encode()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))


async def test_a_connection_is_kept_and_each_request_judged(door: Door) -> None:
    async with Server(keep) as one, Server(keep) as two:
        await door.open(f"one.localhost:{one.port}", f"two.localhost:{two.port}")
        client = await door.connect()
        for port, host, count in [(one.port, "one", b"1"), (one.port, "one", b"2"), (two.port, "two", b"1")]:
            await client.send(get(port, f"{host}.localhost"))
            assert await client.answer() == (200, count)
        await client.send(get(two.port, "one.localhost"))
        assert b" 403 " in await client.rest()
    assert door.lookups == ["one.localhost", "two.localhost"]
    ends = [p for p in door.passages if p.over]
    assert [p.host for p in ends] == ["one.localhost", "one.localhost", "two.localhost"]
    assert ends[0].up == len(one.got[0]) // 2


async def test_what_is_for_the_proxy_stays_there(door: Door) -> None:
    async with Server(OK) as server:
        await door.open(f"one.localhost:{server.port}", token="right")
        client = await door.connect()
        mine = ["Proxy-Authorization: Basic aGVybWVzOnJpZ2h0", "Connection: X-Mine, close", "X-Mine: 1", "Upgrade: h2c"]
        await client.send(get(server.port, "one.localhost", *mine, "Proxy-Connection: close", "Accept: x"))
        assert await client.answer() == (200, b"ok")
    sent = server.got[0].decode()
    assert sent.startswith(f"GET /a?b HTTP/1.1\r\nhost: one.localhost:{server.port}\r\n")
    assert "accept: x" in sent
    for name in ("authorization", "x-mine", "upgrade", "proxy-", "h2c"):
        assert name not in sent.lower()


async def test_bodies_go_both_ways_in_chunks(door: Door) -> None:
    async def answer(server: Server, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server.got[number] = await reader.readuntil(b"0\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")

    async with Server(answer) as server:
        await door.open(f"one.localhost:{server.port}")
        client = await door.connect()
        await client.send(get(server.port, "one.localhost", "Transfer-Encoding: chunked", method="PUT"))
        await client.send(b"5;x=y\r\nhello\r\n")
        await client.send(b"0\r\nTrailer: 1\r\n\r\n")
        assert await client.answer() == (200, b"abcde")
        assert server.got[0].endswith(b"\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
        await client.send(get(server.port))  # and the next one is read


async def test_who_asks_before_sending_is_told_to_go_on(door: Door) -> None:
    async with Server(OK) as server:
        await door.open(f"one.localhost:{server.port}")
        client = await door.connect()
        await client.send(get(server.port, "one.localhost", "Expect: 100-continue", "Content-Length: 4", method="PUT"))
        assert (await client.reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 100")
        await client.send(b"abc\n")
        assert await client.answer() == (200, b"ok")


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (b"HTTP/1.1 204 No\r\n\r\n", b" 204 "),
        (b"HTTP/1.1 304 No\r\nContent-Length: 9\r\n\r\n", b" 304 "),
        (b"HTTP/1.1 100 Wait\r\n\r\n" + OK, b" 200 "),
        (b"HTTP/1.0 200 OK\r\n\r\nuntil the end", b"d\r\nuntil the end\r\n0\r\n\r\n"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"y" * 400_000 + b"\r\n\r\n", b" 502 "),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc", b" 502 "),
        (b"220 mail.example ESMTP\r\n\r\n", b" 502 "),
        (b"", b" 502 "),
    ],
)
async def test_answers_of_servers_are_framed_anew_or_refused(door: Door, answer: bytes, expected: bytes) -> None:
    async with Server(answer) as server:
        await door.open(f"one.localhost:{server.port}")
        said = await door.said(get(server.port, "one.localhost", "Connection: close"))
        assert expected in said
        assert b" 100 " not in said


async def test_an_answer_that_breaks_off_is_not_passed_on_as_whole(door: Door) -> None:
    async with Server(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n") as server:
        await door.open(f"one.localhost:{server.port}")
        said = await door.said(get(server.port))
        assert said.endswith(b"abc\r\n")
        assert b"0\r\n\r\n" not in said.partition(b"\r\n\r\n")[2]


async def test_what_a_server_says_unasked_is_nobodys_answer(door: Door) -> None:
    async with Server(OK + b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil") as server:
        await door.open(f"one.localhost:{server.port}")
        client = await door.connect()
        for _ in range(2):
            await client.send(get(server.port))
            assert await client.answer() == (200, b"ok")
        assert len(server.got) == 2


async def test_an_answer_before_the_whole_request_ends_the_connection(door: Door) -> None:
    async with Server(b"HTTP/1.1 413 Too much\r\nContent-Length: 0\r\n\r\n") as server:
        await door.open(f"one.localhost:{server.port}")
        head = get(server.port, "one.localhost", "Content-Length: 1000000", method="PUT")
        assert b" 413 " in await door.said(head + b"x\n")


async def test_a_body_that_is_malformed_reaches_no_second_request(door: Door) -> None:
    async def answer(server: Server, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server.got[number] = await reader.read()

    async with Server(answer) as server:
        await door.open(f"one.localhost:{server.port}")
        head = get(server.port, "one.localhost", "Transfer-Encoding: chunked", method="PUT")
        for body in (b"zz\r\nGET / HTTP/1.1\r\n\r\n", b"3\r\nabcGET / HTTP/1.1\r\n\r\n", b"-1\r\n\r\n"):
            assert b" 400 " in await door.said(head + body)
        assert not [got for got in server.got if b"GET" in got]


async def test_a_redirect_inside_is_judged_when_it_is_followed(door: Door) -> None:
    moved = b"HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/latest\r\nContent-Length: 0\r\n\r\n"
    async with Server(moved) as server:
        await door.open(f"one.localhost:{server.port}")
        assert b"Location: http://169" in await door.said(get(server.port, "one.localhost", "Connection: close"))
        assert b" 403 " in await door.said(
            b"GET http://169.254.169.254/latest HTTP/1.1\r\nHost: 169.254.169.254\r\n\r\n"
        )


async def test_slow_and_huge_heads_are_let_go(door: Door) -> None:
    await door.open("one.localhost")
    assert await (await door.connect()).rest() == b""
    assert b" 408 " in await door.said(b"GET http://one.localhost/ HTTP/1.1\r\nHost:")
    assert b" 431 " in await door.said(b"GET http://one.localhost/ HTTP/1.1\r\nX: " + b"y" * 200_000)
    assert b" 400 " in await door.said(b"\x05\x01\x00")
    assert b" 400 " in await door.said(b"\x16\x03\x01\x00\x05hello\r\n\r\n")
    assert [p.allowed for p in door.passages] == [False] * 4


async def test_a_client_that_goes_leaves_nothing(door: Door) -> None:
    async def endless(server: Server, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Any:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000000000\r\n\r\n")
        while True:
            writer.write(bytes(65_536))
            await writer.drain()

    async with Server(endless) as server:
        await door.open(f"one.localhost:{server.port}", bounds=Bounds(idle_seconds=5))
        client = await door.connect()
        await client.send(get(server.port))
        await client.reader.read(1_000)
        client.writer.transport.abort()
        for _ in range(500):
            if door.last.over:
                break
            await asyncio.sleep(0.01)
        assert door.last.over
        assert door.last.down > 1_000
