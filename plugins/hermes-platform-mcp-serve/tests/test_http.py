"""Streamable HTTP below the API: whose key it is, whose sessions those are, and pages that may not ask."""

import contextlib

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from hermes_core.kinds import Console

from .conftest import MODULE, called

KEY, ALICE = "owners-key-0123456789", "alices-key-0123456789"
PATH = "/platform/mcp-serve/mcp"
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
ACCEPT = {"accept": "application/json, text/event-stream"}


@pytest.fixture
async def address(hermes, scripted, monkeypatch):
    monkeypatch.setenv("API_SERVER_KEY", KEY)
    monkeypatch.setenv("API_SERVER_KEY_ALICE", ALICE)
    hermes.tmp_plugin(scripted("A secret."))
    for plugin in (MODULE, "hermes_platform_api", "hermes_tool_roles"):
        hermes.tmp_plugin(plugin)
    hermes.configure({"platforms.api.port": 0, "platforms.api.keys": {"API_SERVER_KEY_ALICE": "alice"}})
    async for _ in hermes.turn("What do you know?", session="owners"):
        pass
    runtime = hermes.runtime
    runtime.loader.load_contributing("platforms", ["api"])
    [api] = [one for _, one in runtime.dispatch.contributions("register_platforms") if one.name == "api"]
    await api.open(Console())
    yield api.address
    await api.close()


def plain(address, key=KEY, **headers):
    known = {"authorization": f"Bearer {key}"} if key else {}
    return httpx2.AsyncClient(base_url=address, headers={**known, **ACCEPT, **headers}, timeout=20)


@contextlib.asynccontextmanager
async def client(address, key=KEY, mode="auto"):
    async with (
        plain(address, key) as http,
        Client(streamable_http_client(f"{address}{PATH}", http_client=http), mode=mode) as found,
    ):
        yield found


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_each_key_has_its_person(address, mode):
    async with client(address, mode=mode) as owner:
        listed = (await called(owner, "conversations_list"))["conversations"]
        assert [one["session_key"] for one in listed] == ["owners"]
    async with client(address, ALICE, mode=mode) as alice:
        assert (await called(alice, "conversations_list"))["conversations"] == []
        assert "no session" in await called(alice, "messages_read", session_key="owners")


async def test_without_a_key_or_with_a_wrong_one_nobody_is_served(address):
    for key in ("", "wrong-key-0123456789"):
        async with plain(address, key) as http:
            assert (await http.post(PATH, json=HELLO)).status_code == 401


async def test_a_page_of_another_origin_is_refused_and_one_of_the_same_is_not(address):
    async with plain(address, origin="https://evil.example") as http:
        assert (await http.post(PATH, json=HELLO)).status_code == 403
    async with plain(address, host="evil.example") as http:
        assert (await http.post(PATH, json=HELLO)).status_code == 403
    async with plain(address, origin=address) as http:
        assert (await http.post(PATH, json=HELLO)).status_code == 200


async def test_a_session_is_of_who_began_it(address):
    async with plain(address) as http:
        begun = await http.post(PATH, json=HELLO)
        mine = {"mcp-session-id": begun.headers["mcp-session-id"], "mcp-protocol-version": "2025-11-25"}
        ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
        assert (await http.post(PATH, json=ping, headers=mine)).status_code == 200
    async with plain(address, ALICE) as http:
        assert (await http.post(PATH, json=ping, headers=mine)).status_code == 404
        assert (await http.delete(PATH, headers=mine)).status_code == 404
    async with plain(address) as http:
        assert (await http.delete(PATH, headers=mine)).status_code < 300
        assert (await http.post(PATH, json=ping, headers=mine)).status_code == 404


async def test_a_person_with_a_browser_is_told_what_this_is(address):
    async with plain(address, accept="text/html") as http:
        answer = await http.get(PATH)
        assert (answer.status_code, "Model Context Protocol" in answer.text) == (200, True)


async def test_garbage_is_answered(address):
    async with plain(address) as http:
        for body in (b"", b"{", b"[]", b"\xff" * 100, b'{"jsonrpc": "2.0"}', b"1"):
            answer = await http.post(PATH, content=body, headers={"content-type": "application/json"})
            assert 400 <= answer.status_code < 500, body
