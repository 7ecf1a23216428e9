"""JSON-RPC over lines: order, cancellation, errors, and what is no message at all."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp_wire.peer import Answered, Gone, Peer, RpcError

Handler = Callable[[str, Mapping[str, Any]], Awaitable[Any]]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["id", "method", "params", "x"]), inner)
    ),
    max_leaves=8,
)


async def echo(method: str, params: Mapping[str, Any]) -> Any:
    """Give back what came."""
    if method == "fail":
        raise RpcError(-1, "no", {"why": 1})
    if method == "break":
        raise ZeroDivisionError
    if method == "wait":
        await asyncio.sleep(3600)
    return {"method": method, **params}


async def _pipe() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    into, out = os.pipe()
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=1 << 20)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(into, "rb", buffering=0))
    transport, protocol = await loop.connect_write_pipe(
        lambda: asyncio.streams.FlowControlMixin(loop), os.fdopen(out, "wb", buffering=0)
    )
    return reader, asyncio.StreamWriter(transport, protocol, None, loop)


@asynccontextmanager
async def connected(answer: Handler = echo) -> AsyncIterator[tuple[Peer, asyncio.StreamReader, asyncio.StreamWriter]]:
    """A peer, and the two ends of whoever talks to it."""
    there, out = await _pipe()
    here, into = await _pipe()
    peer = Peer(there, into, answer)
    serving = asyncio.create_task(peer.serve())
    try:
        yield peer, here, out
    finally:
        out.close()
        async with asyncio.timeout(10):
            await serving
            await peer.close()
        while await here.read(1 << 16):
            pass


async def told(reader: asyncio.StreamReader) -> Any:
    """The next message."""
    return json.loads(await asyncio.wait_for(reader.readline(), 10))


def write(writer: asyncio.StreamWriter, *messages: Any) -> None:
    """Write messages, each a line."""
    for one in messages:
        writer.write((one if isinstance(one, bytes) else json.dumps(one).encode()) + b"\n")


def request(number: Any, method: str, **params: Any) -> dict[str, Any]:
    """A request."""
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


async def test_what_is_asked_is_answered_and_errors_are_told() -> None:
    async with connected() as (_, here, out):
        write(out, request(1, "say", a=1), request("x", "fail"), request(None, "break"))
        found = {json.dumps(one["id"]): one for one in [await told(here) for _ in range(3)]}
        assert found["1"]["result"] == {"method": "say", "a": 1}
        assert found['"x"']["error"] == {"code": -1, "message": "no", "data": {"why": 1}}
        assert found["null"]["error"]["code"] == -32603


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{", -32700),
        (b"[]", -32600),
        (b"5", -32600),
        (b'{"jsonrpc": "1.0", "id": 1, "method": "x"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": 5}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "x", "params": [1]}', -32602),
        (b"[" * 100_000, -32700),
    ],
)
async def test_what_is_no_request_is_refused_and_the_next_one_answered(line: bytes, code: int) -> None:
    async with connected() as (_, here, out):
        write(out, line, request(2, "say"))
        assert sorted([(await told(here)).get("error", {}).get("code", 0) for _ in range(2)]) == [code, 0]


async def test_a_batch_is_answered_by_a_batch() -> None:
    async with connected() as (_, here, out):
        write(out, [request(1, "a"), {"jsonrpc": "2.0", "method": "told"}, 5, request(2, "b")])
        found = await told(here)
        assert sorted(str(one["id"]) for one in found) == ["1", "2", "None"]


async def test_what_is_taken_back_is_cancelled_on_both_sides() -> None:
    async with connected() as (peer, here, out):
        write(out, request(1, "wait"), {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 1}})
        assert (await told(here))["error"]["code"] == -32800
        asking = asyncio.create_task(peer.request("ask", {}))
        number = (await told(here))["id"]
        asking.cancel()
        assert await told(here) == {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": number}}
        with pytest.raises(asyncio.CancelledError):
            await asking


async def test_the_other_side_answers_or_is_gone() -> None:
    async with connected() as (peer, here, out):
        first, second = (asyncio.create_task(peer.request("ask", {"n": n})) for n in (1, 2))
        numbers = [(await told(here))["id"] for _ in range(2)]
        write(out, {"jsonrpc": "2.0", "id": numbers[0], "result": 7})
        assert await first == 7
        write(out, {"jsonrpc": "2.0", "id": numbers[1], "error": {"code": 3, "message": "no"}})
        with pytest.raises(RpcError) as caught:
            await second
        assert (caught.value.code, caught.value.message) == (3, "no")
        third = asyncio.create_task(peer.request("ask", {}))
        await told(here)
        out.close()
        with pytest.raises(Gone):
            await third
        with pytest.raises(Gone):
            await peer.request("ask", {})


async def test_what_follows_an_answer_is_told_after_it() -> None:
    peers: list[Peer] = []

    async def answer(method: str, params: Mapping[str, Any]) -> Any:
        return Answered({"ok": 1}, lambda: peers[0].notify("after", {}))

    async with connected(answer) as (peer, here, out):
        peers.append(peer)
        write(out, request(1, "x"))
        assert "result" in await told(here)
        assert (await told(here))["method"] == "after"


async def test_what_comes_is_begun_in_its_order() -> None:
    begun: list[str] = []

    async def answer(method: str, params: Mapping[str, Any]) -> Any:
        begun.append(method)
        await asyncio.sleep(0)

    async with connected(answer) as (_, here, out):
        write(out, *(request(n, f"m{n}") for n in range(50)))
        for _ in range(50):
            await told(here)
    assert begun == [f"m{n}" for n in range(50)]


@given(st.lists(JSON | st.binary(max_size=20).map(lambda b: b.replace(b"\n", b"")), max_size=5))
def test_nothing_that_comes_ends_it(messages: list[Any]) -> None:
    async def play() -> None:
        async with connected() as (_, here, out):
            write(out, *messages, request("last", "say"))
            while True:
                found = await told(here)
                if any(one.get("id") == "last" for one in (found if isinstance(found, list) else [found])):
                    return

    asyncio.run(play())
