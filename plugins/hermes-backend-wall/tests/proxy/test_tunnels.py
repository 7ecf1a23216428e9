"""Tunnels: to named hosts only, with the same name in TLS, and to an address that was judged."""

import asyncio
import os
from pathlib import Path

import pytest

from hermes_backend_wall.proxy import tunnel
from hermes_backend_wall.proxy.bounds import Bounds
from hermes_backend_wall.proxy.hello import ALERT
from hermes_backend_wall.proxy.rules import Rule

from .conftest import Door, Server, echo, hello


async def test_bytes_go_both_ways_and_each_end_in_its_turn(door: Door) -> None:
    async with Server(echo) as server:
        await door.open(f"one.localhost:{server.port}")
        client = await door.tunnel("one.localhost", server.port)
        first = hello("one.localhost", longest=100)
        for at in range(0, len(first), 70):
            await client.send(first[at : at + 70])
        await client.send(b"more")
        client.writer.write_eof()
        assert await client.rest() == first + b"more|end"
    assert door.last.over
    assert door.last.allowed
    assert (door.last.up, door.last.down) == (len(first) + 4, len(first) + 8)
    assert [(p.host, p.why, p.over) for p in door.passages] == [("one.localhost", "test", o) for o in (False, True)]


@pytest.mark.parametrize("spliced", [True, False])
async def test_much_goes_through_whole(door: Door, monkeypatch: pytest.MonkeyPatch, spliced: bool) -> None:
    if not spliced:
        monkeypatch.delattr(os, "splice", raising=False)
    monkeypatch.setattr(tunnel, "COPIED", 50_000)
    block = os.urandom(1_000_000)
    async with Server(echo) as server:
        await door.open(f"one.localhost:{server.port}")
        client = await door.tunnel("one.localhost", server.port)
        first = hello("one.localhost")

        async def send() -> None:
            await client.send(first)
            for _ in range(8):
                await client.send(block)
            client.writer.write_eof()

        sending = asyncio.create_task(send())
        came = await client.rest()
        await sending
    assert came == first + block * 8 + b"|end"


async def test_who_does_not_read_slows_down_who_sends(door: Door) -> None:
    sent = 0

    async def pour(server: Server, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        while True:
            writer.write(bytes(65_536))
            await writer.drain()
            sent += 65_536

    async with Server(pour) as server:
        await door.open(f"one.localhost:{server.port}")
        client = await door.tunnel("one.localhost", server.port)
        client.writer.transport.pause_reading()
        await client.send(hello("one.localhost"))
        before = -1
        while sent != before or not sent:  # until nothing moves any more
            before = sent
            await asyncio.sleep(0.3)
        assert sent < 64_000_000
        client.writer.transport.abort()


@pytest.mark.parametrize(
    "first",
    [
        hello("two.localhost"),
        hello("one.localhost.evil.example"),
        hello(None),
        b"GET / HTTP/1.1\r\nHost: one.localhost\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.2\r\n",
    ],
    ids=["another name", "a longer name", "no name", "no TLS", "ssh"],
)
async def test_what_does_not_begin_tls_with_the_same_name_reaches_nobody(door: Door, first: bytes) -> None:
    async with Server(echo) as server:
        await door.open(f"one.localhost:{server.port}", f"two.localhost:{server.port}")
        client = await door.tunnel("one.localhost", server.port)
        await client.send(first)
        assert await client.rest() == ALERT
        assert b"".join(server.got) == b""
    assert not door.last.allowed
    assert door.last.over


async def test_who_says_nothing_in_the_tunnel_is_let_go(door: Door) -> None:
    async with Server(echo) as server:
        await door.open(f"one.localhost:{server.port}")
        client = await door.tunnel("one.localhost", server.port)
        await client.send(hello("one.localhost")[:50])
        assert await client.rest() == ALERT
    assert "did not begin TLS" in door.last.why


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "240.0.0.1",
        "::1",
        "fe80::1",
        "fc00::1",
        "ff02::1",
        "::ffff:10.0.0.1",
        "64:ff9b::a00:1",
        "2002:a00:1::1",
        "2001:0:a00:1::",
        "::10.0.0.1",
    ],
)
async def test_a_name_that_leads_inside_is_closed(door: Door, address: str) -> None:
    await door.open(Rule.read("mirror.example"))
    door.addresses["mirror.example"] = ["93.184.216.34", address]
    client = await door.connect()
    assert await client.ask_tunnel("mirror.example", 443) == 403
    assert not door.last.allowed


async def test_a_mirror_of_the_person_may_be_private_and_is_not_this_machine(door: Door) -> None:
    await door.open("mirror.example:8443")
    said = await door.said(b"CONNECT mirror.example:8443 HTTP/1.0\r\n\r\n")
    assert b"403 mirror.example leads to 127.0.0.1, which is this machine" in said
    door.addresses["mirror.example"] = ["169.254.169.254"]
    assert b" 403 " in await door.said(b"CONNECT mirror.example:8443 HTTP/1.0\r\n\r\n")


async def test_an_answer_that_changes_gains_nothing(door: Door) -> None:
    answers = [["127.0.0.1"], ["10.0.0.1"]]

    async def look_up(host: str, port: int) -> list[str]:
        return answers.pop(0)

    async with Server(echo) as server:
        await door.open(f"one.localhost:{server.port}", lookup=look_up)
        await door.tunnel("one.localhost", server.port)
    assert len(answers) == 1


@pytest.mark.parametrize("host", ["127.0.0.1", "10.0.0.1", "93.184.216.34", "[::1]", "[2606:2800:220:1::1]"])
async def test_an_address_is_open_only_when_it_is_named(door: Door, host: str) -> None:
    async def yes(crossing: object) -> bool:
        raise AssertionError("nobody is asked about an address")

    await door.open("one.localhost", ask=yes)
    client = await door.connect()
    assert await client.ask_tunnel(host, 443) == 403


async def test_a_named_address_needs_no_name_in_tls(door: Door) -> None:
    async with Server(echo) as server:
        await door.open(f"127.0.0.1:{server.port}")
        client = await door.tunnel("127.0.0.1", server.port)
        first = hello(None)
        await client.send(first)
        client.writer.write_eof()
        assert await client.rest() == first + b"|end"


async def test_a_name_that_nobody_opened_is_never_resolved(door: Door) -> None:
    await door.open("one.localhost")
    client = await door.connect()
    assert await client.ask_tunnel("c2VjcmV0.evil.example", 443) == 403
    assert door.lookups == []


async def test_a_server_that_is_not_there_is_told(door: Door) -> None:
    async with Server(echo) as server:
        port = server.port
    await door.open(f"one.localhost:{port}")
    client = await door.connect()
    assert await client.ask_tunnel("one.localhost", port) == 502


async def test_what_stands_still_ends(door: Door) -> None:
    async with Server(echo) as server:
        await door.open(f"one.localhost:{server.port}", bounds=Bounds(idle_seconds=0.3))
        client = await door.tunnel("one.localhost", server.port)
        await client.send(hello("one.localhost"))
        assert await client.rest() == server.got[0]


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def test_closing_leaves_nothing(door: Door) -> None:
    async with Server(echo) as server:
        await door.open(f"one.localhost:{server.port}")
        before = len(asyncio.all_tasks())
        files = open_files()
        clients = [await door.tunnel("one.localhost", server.port) for _ in range(5)]
        for client in clients[:3]:
            await client.send(hello("one.localhost"))
            await client.reader.read(10)
        await door.close()
        for client in clients:
            await client.rest()
        for _ in range(500):  # the server notices too
            if len(asyncio.all_tasks()) < before and open_files() <= files:
                break
            await asyncio.sleep(0.01)
        assert len(asyncio.all_tasks()) < before
        assert open_files() <= files


async def test_more_than_the_bound_are_turned_away(door: Door) -> None:
    async with Server(echo) as server:
        await door.open(f"one.localhost:{server.port}", bounds=Bounds(connections=2))
        one, two = [await door.tunnel("one.localhost", server.port) for _ in range(2)]
        assert b" 503 " in await (await door.connect()).rest()
        one.writer.close()
        for _ in range(100):
            if len(door.proxy._serving) < 2:
                break
            await asyncio.sleep(0.01)
        await door.tunnel("one.localhost", server.port)
        two.writer.close()


async def test_names_that_are_never_answered_hold_up_a_few_at_a_time(door: Door) -> None:
    asked: list[str] = []

    async def never(host: str, port: int) -> list[str]:
        asked.append(host)
        await asyncio.sleep(3_600)
        return []

    await door.open("*.never.example", lookup=never, bounds=Bounds(dial_seconds=0.2))
    clients = [await door.connect() for _ in range(10)]
    statuses = await asyncio.gather(*(c.ask_tunnel(f"{n}.never.example", 443) for n, c in enumerate(clients)))
    assert statuses == [504] * 10
    assert len(asked) == 4
