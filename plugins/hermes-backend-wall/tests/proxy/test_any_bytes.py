"""Whatever a command sends to the proxy, it gets a refusal or nothing, and no server hears of it."""

import asyncio
import socket

from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_backend_wall.proxy.bounds import Bounds
from hermes_backend_wall.proxy.passages import Passage
from hermes_backend_wall.proxy.rules import Rule, Rules
from hermes_backend_wall.proxy.server import Proxy

PIECES = st.sampled_from(
    [
        *(b"GET ", b"CONNECT ", b"http://", b"one.example", b":443", b"/", b" HTTP/1.1", b"\r\n", b"\n", b"\r\n\r\n"),
        *(
            b"Host: one.example",
            b"Host: evil.example",
            b"Content-Length: 3",
            b"Transfer-Encoding: chunked",
            b"\x16\x03",
        ),
        *(b"evil.example", b" ", b"\t", b"\x00", b"@", b"\\", b"[::1]", b"127.0.0.1", b"\x05\x01\x00", b"Connection: "),
    ]
)


async def served(data: bytes) -> tuple[bytes, list[Passage], list[str]]:
    passages: list[Passage] = []
    lookups: list[str] = []

    async def look_up(host: str, port: int) -> list[str]:
        lookups.append(host)
        return ["10.0.0.1"]

    rules = Rules([Rule.read("one.example", source="test")])
    proxy = Proxy(rules, on_passage=passages.append, lookup=look_up, bounds=Bounds(head_seconds=1))
    near, far = socket.socketpair()
    with near:
        near.sendall(data)
        near.shutdown(socket.SHUT_WR)
        await proxy.serve(far)
        answer = near.recv(65_536)
    await proxy.close()
    return answer, passages, lookups


@settings(max_examples=300, deadline=None)
@given(pieces=st.lists(PIECES | st.binary(max_size=6), max_size=14))
def test_any_bytes_are_refused_or_lead_to_the_open_host(pieces: list[bytes]) -> None:
    answer, passages, lookups = asyncio.run(served(b"".join(pieces)))
    assert answer == b"" or answer.startswith(b"HTTP/1.1 4")
    assert set(lookups) <= {"one.example"}
    assert {p.host for p in passages if p.allowed} <= {"one.example"}
