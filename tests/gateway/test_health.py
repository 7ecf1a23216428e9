"""Probes over real sockets."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hermes_core.errors import UserError
from hermes_core.gateway.supervision.health import Health
from hermes_core.gateway.supervision.notify import Pulse
from hermes_core.store.store import Store, open_store


class Gateway:
    """What the listener knows of one."""

    def __init__(self, store: Store) -> None:
        self.why = ""
        self.store = store
        self.health = Health(Pulse(store.answers), lambda: self.why)


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[Gateway]:
    made = Gateway(open_store(tmp_path / "state.db"))
    await made.health.open("127.0.0.1", 0)
    yield made
    await made.health.close()
    made.store.close()


async def asked(gateway: Gateway, request: bytes) -> tuple[bytes, bytes]:
    """The head and the body of the answer to a request, byte for byte."""
    reader, writer = await asyncio.open_connection("127.0.0.1", gateway.health.port)
    writer.write(request)
    head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    writer.close()
    return head, body


async def got(gateway: Gateway, path: str, method: str = "GET") -> tuple[int, bytes]:
    head, body = await asked(gateway, f"{method} {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    return int(head.split()[1]), body


async def test_a_gateway_that_is_well_says_so(gateway: Gateway):
    assert await got(gateway, "/healthz") == (200, b'{"status": "ok"}\n')
    assert await got(gateway, "/readyz?verbose") == (200, b'{"status": "ok"}\n')


async def test_one_that_starts_or_stops_lives_but_takes_no_work(gateway: Gateway):
    gateway.why = "it is stopping"
    assert await got(gateway, "/readyz") == (503, b'{"status": "it is stopping"}\n')
    assert (await got(gateway, "/healthz"))[0] == 200


async def test_without_its_store_it_takes_no_work_and_tells_nobody_why(gateway: Gateway):
    gateway.store.close()
    assert await got(gateway, "/readyz") == (503, b'{"status": "the store does not answer"}\n')
    assert (await got(gateway, "/healthz"))[0] == 200


@pytest.mark.parametrize(
    ("request_line", "status"),
    [
        (b"GET / HTTP/1.1", 404),
        (b"GET /healthz/../etc/passwd HTTP/1.1", 404),
        (b"POST /healthz HTTP/1.1", 405),
        (b"GET /healthz", 400),
        (b"\x16\x03\x01 \x00 \xff", 400),
        (b"", 400),
    ],
)
async def test_nothing_else_is_answered(gateway: Gateway, request_line: bytes, status: int):
    head, _ = await asked(gateway, request_line + b"\r\nHost: x\r\n\r\n")
    assert head.split()[1] == str(status).encode()


async def test_a_head_without_a_body_and_every_answer_ends_the_connection(gateway: Gateway):
    head, body = await asked(gateway, b"HEAD /healthz HTTP/1.0\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"Content-Length: 17" in head
    assert b"Connection: close" in head
    assert body == b""


async def test_a_request_without_end_is_refused(gateway: Gateway):
    head, _ = await asked(gateway, b"GET /" + b"a" * 9_000)
    assert head.startswith(b"HTTP/1.1 400")


async def test_a_client_that_leaves_in_the_middle_disturbs_nobody(gateway: Gateway):
    for _ in range(20):
        _, writer = await asyncio.open_connection("127.0.0.1", gateway.health.port)
        writer.write(b"GET /hea")
        writer.transport.abort()
    assert (await got(gateway, "/healthz"))[0] == 200


async def test_a_place_that_is_taken_is_a_clear_error(gateway: Gateway):
    other = Gateway(gateway.store)
    with pytest.raises(UserError, match=rf"cannot listen for probes at 127.0.0.1:{gateway.health.port}"):
        await other.health.open("127.0.0.1", gateway.health.port)
