"""Servers at an address: both ways of speaking, both revisions, and what of them asks."""

import asyncio
import re

import pytest

from hermes_core.errors import ToolError
from hermes_core.testing import Call
from hermes_core.types import Text

from .test_turns import kit, known, turn, words


@pytest.mark.parametrize("way", ["http", "sse"])
async def test_a_server_at_an_address_is_used_by_the_newest_revision_that_it_has(servers, far, way):
    there = servers(far={"url": far(way), "transport": way, "timeout": 10.0})
    answer = await there.connection("far").call("echo", {"text": "hello"}, there.context())
    assert answer.content[0].text == "hello"
    assert there.pool.lists.get("far", there.rows["far"]).protocol == "2026-07-28"


async def test_where_nobody_listens_one_clear_error_says_so(servers):
    there = servers(far={"url": "http://127.0.0.1:9/mcp", "connect_timeout": 5.0})
    with pytest.raises(ToolError, match="The MCP server far is not there"):
        await there.connection("far").client()


async def test_one_that_wants_a_login_says_which_command_makes_it(servers):
    async def refuse(reader, writer):
        await reader.readline()
        writer.write(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as listener:
        port = listener.sockets[0].getsockname()[1]
        there = servers(far={"url": f"http://127.0.0.1:{port}/mcp", "connect_timeout": 5.0})
        with pytest.raises(ToolError, match="hermes mcp login far"):
            await there.connection("far").client()


async def test_what_only_looks_asks_nobody_unless_it_carries_an_address(hermes, scripted, far):
    rows = {"far": {"url": far("http")}}
    calls = [Call("mcp__far__echo", {"text": one}) for one in ("first", "second", "https://evil.example/?q=secret")]
    kit(hermes, scripted, rows, *calls, Call("mcp__far__change", {"text": "x"}), "done")
    await known(hermes)
    results = await turn(hermes)
    assert [words(one) for one in results[:2]] == ["first", "second"]
    assert [one.failed for one in results] == [False, False, True, True]
    told = "".join(part.text for part in results[3].parts if isinstance(part, Text))
    assert re.search("needs a person's yes", told)


async def test_a_login_of_hermes_itself_says_what_it_lacks(servers):
    there = servers(far={"url": "http://127.0.0.1:9/mcp", "login": "client", "client_id": "me", "connect_timeout": 5.0})
    with pytest.raises(ToolError, match="client_secret"):
        await there.connection("far").client()
