"""A stream may arrive in any pieces, and one that is cut never looks whole."""

import asyncio
import json
from collections.abc import Sequence

import httpx2
import pytest
from hostile_mutants import SAID, WIRES, body_of

from hermes_core.agent.reply import Reply
from hermes_core.errors import Unavailable
from hermes_core.testing.model_service import FakeSecrets
from hermes_core.testing.protocol_replies import reply_of
from hermes_core.types import Endpoint, Message, Request, Text
from hermes_provider_anthropic.provider import all_providers as anthropic_providers
from hermes_provider_openai.provider import all_providers as openai_providers

pytestmark = pytest.mark.long

HELLO = Request(model="m", messages=(Message(role="user", parts=(Text(text="hello"),)),))
FILES = [f"{protocol}-{name}.{kind}" for protocol in WIRES for name in SAID for kind in ("sse", "json")]
FILES = [file for file in FILES if not (file.startswith("responses") and file.endswith("json"))]
SMALL = ("echo", "tools-1")  # with --every 1 the others are cut too


def pytest_generate_tests(metafunc) -> None:
    if "file" in metafunc.fixturenames:
        metafunc.parametrize("file", [f for f in FILES if _every(metafunc.config) or any(name in f for name in SMALL)])


def _every(config: pytest.Config) -> bool:
    return config.getoption("--every") == 1


def places(body: bytes) -> list[int]:
    """Where a body is cut: around every end of a line, where readers change their minds, and at steps between."""
    ends = [at for at, byte in enumerate(body) if byte in b"\r\n"]
    near = {at + step for at in ends for step in range(-2, 5) if 0 <= at + step < len(body)}
    return sorted(near | set(range(0, len(body), 23)))


class Pieces(httpx2.AsyncByteStream):
    """A body that comes in these pieces, and may break off after them."""

    def __init__(self, pieces: Sequence[bytes], *, breaks: bool) -> None:
        self._pieces, self._breaks = pieces, breaks

    async def __aiter__(self):
        for piece in self._pieces:
            if piece:
                yield piece
        if self._breaks:
            raise httpx2.RemoteProtocolError("peer closed connection")


class Transport(httpx2.AsyncBaseTransport):
    """Answers every request with the bytes it was given last."""

    kind = ""
    stream: Pieces

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, headers={"content-type": self.kind}, stream=self.stream)


def provider(protocol: str, transport: Transport):
    name = "anthropic" if protocol == "messages" else "custom"
    listed = (anthropic_providers if protocol == "messages" else openai_providers)(FakeSecrets(), {})
    spoken = {} if protocol == "messages" else {"protocol": protocol}
    place = Endpoint(name="evil", base_url="http://127.0.0.1:9/v1", api_key="sk-hostile-0123456789", **spoken)
    one = next(p for p in listed if p.name == name).at(place)
    connection = one._line().connection
    connection._client, connection._loop = httpx2.AsyncClient(transport=transport), asyncio.get_running_loop()
    return one


class Cutter:
    """One reply, to be sent in any pieces."""

    def __init__(self, file: str) -> None:
        protocol, _, name = file.partition("-")
        name, _, kind = name.rpartition(".")
        self.body = body_of(protocol, name) if kind == "sse" else json.dumps(reply_of(protocol, SAID[name])).encode()
        self._transport = Transport()
        self._transport.kind = "text/event-stream" if kind == "sse" else "application/json"
        self._provider = provider(protocol, self._transport)

    async def heard(self, *pieces: bytes, breaks: bool = False):
        """The reply; None when the provider says that it failed and that trying again may help."""
        self._transport.stream = Pieces(pieces, breaks=breaks)
        reply = Reply()
        try:
            async for delta in self._provider.stream(HELLO):
                reply.add(delta)
            return reply.finish()
        except Unavailable:
            return None


async def test_two_reads_say_what_one_says(file):
    cutter = Cutter(file)
    whole = await cutter.heard(cutter.body)
    assert whole is not None
    for cut in (*places(cutter.body), len(cutter.body)):
        response = await cutter.heard(cutter.body[:cut], cutter.body[cut:])
        assert response is not None, cut
        assert response == whole, cut


@pytest.mark.parametrize("breaks", [False, True])
async def test_a_cut_stream_is_never_taken_for_a_whole_one(file, breaks):
    cutter = Cutter(file)
    whole = await cutter.heard(cutter.body)
    assert whole is not None
    failures, cuts = 0, places(cutter.body)
    for cut in cuts:
        response = await cutter.heard(cutter.body[:cut], breaks=breaks)
        failures += response is None
        if response is not None:  # only what tells of the costs may be missing
            assert (response.message, response.reason) == (whole.message, whole.reason), f"whole after {cut} bytes"
    assert failures > len(cuts) // 2  # what tells that it is whole comes late
