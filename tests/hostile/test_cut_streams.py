"""A stream may arrive in any pieces, and one that is cut never looks whole."""

import asyncio
import json
from collections.abc import Sequence

import httpx2
import pytest
from hostile_mutants import RECORDED, WIRES

from hermes_core.agent.reply import Reply
from hermes_core.context import SecretsBroker
from hermes_core.errors import Unavailable
from hermes_core.types import Endpoint, Message, Request, Text
from hermes_provider_anthropic.provider import all_providers as anthropic_providers
from hermes_provider_openai.provider import all_providers as openai_providers

HELLO = Request(model="m", messages=(Message(role="user", parts=(Text(text="hello"),)),))
SMALL = ("echo", "tools-1")  # with more --cases than usual the others are cut too


def pytest_generate_tests(metafunc) -> None:
    if "file" in metafunc.fixturenames:
        every = (metafunc.config.getoption("cases", 1500) or 1500) > 1500
        files = sorted(p.name for p in RECORDED.iterdir())
        metafunc.parametrize("file", [f for f in files if every or any(name in f for name in SMALL)])


class NoSecrets(SecretsBroker):
    def get(self, name: str) -> str:
        return ""

    def resolve(self, value: str) -> str:
        return value


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


def provider(wire: str, transport: Transport):
    name = "anthropic" if wire == "messages" else "custom"
    listed = (anthropic_providers if wire == "messages" else openai_providers)(NoSecrets(), {})
    spoken = {} if wire == "messages" else {"wire": wire}
    place = Endpoint(name="evil", base_url="http://127.0.0.1:9/v1", api_key="sk-hostile-0123456789", **spoken)
    one = next(p for p in listed if p.name == name).at(place)
    state = one._line().state
    state.client, state.loop = httpx2.AsyncClient(transport=transport), asyncio.get_running_loop()
    return one


class Cutter:
    """One recorded reply, to be sent in any pieces."""

    def __init__(self, file: str) -> None:
        self.body = (RECORDED / file).read_bytes()
        self._transport = Transport()
        self._transport.kind = "text/event-stream" if file.endswith("sse") else "application/json"
        self._provider = provider(next(w for w in WIRES if file.startswith(w)), self._transport)

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
    for cut in range(len(cutter.body) + 1):
        response = await cutter.heard(cutter.body[:cut], cutter.body[cut:])
        assert response is not None, cut
        assert response == whole, cut


@pytest.mark.parametrize("breaks", [False, True])
async def test_a_cut_stream_is_never_taken_for_a_whole_one(file, breaks):
    cutter = Cutter(file)
    whole = await cutter.heard(cutter.body)
    assert whole is not None
    failures = 0
    for cut in range(len(cutter.body)):
        response = await cutter.heard(cutter.body[:cut], breaks=breaks)
        failures += response is None
        if response is not None:  # only what tells of the costs may be missing
            assert (response.message, response.reason) == (whole.message, whole.reason), f"whole after {cut} bytes"
    assert failures > len(cutter.body) // 2  # what tells that it is whole comes late


def test_the_recorded_replies_are_of_every_wire():
    files = sorted(RECORDED.iterdir())
    assert {f.name.partition("-")[0] for f in files} == set(WIRES)
    for file in files:
        if file.suffix == ".json":
            json.loads(file.read_text())
