"""Where a person's network has a proxy of its own, the way leads through it."""

import asyncio
from typing import Any

import pytest

from hermes_backend_wall.proxy.rules import Rule
from hermes_backend_wall.proxy.upstream import Upstream, Upstreams
from hermes_core.errors import UserError
from hermes_tool_kit.addresses import CheckedUrl

from .conftest import Door, Server, hello


async def company(server: Server, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A proxy that says yes to all and then echoes."""
    server.got[number] = await reader.readuntil(b"\r\n\r\n")
    if server.got[number].startswith(b"GET"):
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        return
    writer.write(b"HTTP/1.1 200 Yes\r\n\r\n")
    while data := await reader.read(65_536):
        writer.write(data)
        await writer.drain()


def through(server: Server, **more: str) -> dict[str, Any]:
    proxy = f"http://me:s%40cret@127.0.0.1:{server.port}"
    return {"upstream": Upstreams({"HTTPS_PROXY": proxy, "http_proxy": proxy, **more})}


async def test_a_tunnel_leads_through_it_and_the_name_in_tls_still_counts(door: Door) -> None:
    async def yes(_: object) -> bool:
        return True

    async with Server(company) as server:
        await door.open(ask=yes, **through(server))
        client = await door.tunnel("new.example", 443)
        await client.send(hello("new.example"))
        assert (await client.reader.readexactly(100)).startswith(b"\x16\x03\x01")
        asked = server.got[0].decode()
        assert asked.startswith("CONNECT new.example:443 HTTP/1.1\r\nHost: new.example:443\r\n")
        assert "Proxy-Authorization: Basic bWU6c0BjcmV0\r\n" in asked
        other = await door.tunnel("new.example", 443)
        await other.send(hello("other.example"))
        await other.rest()
        assert not door.last.allowed


async def test_plain_requests_lead_through_it_whole(door: Door) -> None:
    async with Server(company) as server:
        await door.open(Rule.read("one.example"), **through(server))
        client = await door.connect()
        await client.send(b"GET http://one.example/x HTTP/1.1\r\nHost: one.example\r\n\r\n")
        assert await client.answer() == (200, b"ok")
        assert server.got[0].startswith(b"GET http://one.example/x HTTP/1.1\r\nhost: one.example\r\n")
        assert b"proxy-authorization: Basic bWU6c0BjcmV0" in server.got[0]


async def test_names_inside_a_network_are_closed_through_it_too(door: Door) -> None:
    async with Server(company) as server:
        await door.open(Rule.read("router.lan"), Rule.read("10.0.0.1"), **through(server))
        for host in ("router.lan", "10.0.0.1"):
            client = await door.connect()
            assert await client.ask_tunnel(host, 443) == 403
        assert server.got == []


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n",
        b"SSH-2.0\r\n\r\n",
        b"",
        b"HTTP/1.1 200 Y\r\n\r\nmore",
        b"x" * 40_000,
    ],
    ids=["no", "no HTTP", "nothing", "too much", "no end"],
)
async def test_a_proxy_that_does_not_open_the_way_is_told(door: Door, answer: bytes) -> None:
    async with Server(answer) as server:
        await door.open(Rule.read("one.example"), **through(server))
        said = await door.said(b"CONNECT one.example:443 HTTP/1.0\r\n\r\n")
        assert b"HTTP/1.1 502 The proxy of your network" in said or (not answer and b" 502 " in said)
        assert b"cret" not in said


def target(host: str, port: int = 443, scheme: str = "https") -> CheckedUrl:
    return CheckedUrl(scheme, host, port, "/")


def test_some_hosts_are_reached_directly() -> None:
    ways = Upstreams(
        {"https_proxy": "http://p:3128", "NO_PROXY": "localhost, .corp.example,direct.example:8443,*.x.org"}
    )
    assert ways(target("pypi.org")) == Upstream(host="p", port=3128)
    assert ways(target("a.corp.example")) is None
    assert ways(target("corp.example")) is None
    assert ways(target("a.x.org")) is None
    assert ways(target("direct.example", 8443)) is None
    assert ways(target("direct.example")) is not None
    assert ways(target("pypi.org", 80, "http")) is None
    assert Upstreams({"ALL_PROXY": "p", "no_proxy": "*"})(target("pypi.org")) is None
    assert Upstreams({"ALL_PROXY": "p"})(target("pypi.org", 80, "http")) == Upstream(host="p", port=80)


@pytest.mark.parametrize("url", ["https://p:3128", "socks5://u:secret@p:1080", "http://u:sec/ret@p:x", "http://"])
def test_a_proxy_that_cannot_be_spoken_to_is_told_without_its_password(url: str) -> None:
    with pytest.raises(UserError) as caught:
        Upstreams({"HTTPS_PROXY": url})
    assert "HTTPS_PROXY" in str(caught.value)
    assert "sec" not in str(caught.value)


def test_a_password_is_not_shown() -> None:
    assert "secret" not in repr(Upstream.read("http://me:secret@p:1", "x"))
    assert "bWU6" not in repr(Upstream.read("http://me:secret@p:1", "x"))
