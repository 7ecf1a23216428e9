"""Calls on servers that do what servers do: each ends, what ended comes back, and nothing stays."""

import asyncio
import json
import sys
import time
from uuid import uuid4

import pytest

from hermes_backend_wall.plan import chosen
from hermes_core.environment import LOCKS
from hermes_core.errors import ToolError
from hermes_core.types import Blob, Message, Response, Text, Usage
from hermes_tool_mcp.config import ServerSettings
from hermes_tool_mcp.place import Said
from hermes_tool_mcp.results import result_of

from .conftest import ODD, odd, running, until


async def said(connection, tool, context, **given):
    answer = await connection.call(tool, given, context)
    return "".join(part.text for part in await result_of(answer, context) if isinstance(part, Text))


async def test_a_call_is_answered_and_its_server_ends_with_the_connection(servers):
    mark = uuid4().hex
    there = servers(odd=odd(mark=mark))
    assert await said(there.connection(), "echo", there.context(), text="hello") == "hello"
    assert len(running(mark)) == 1
    await there.close()
    assert not running(mark)


async def test_what_a_server_started_ends_with_it(servers):
    mark = uuid4().hex
    there = servers(odd=odd(mark=mark))
    await said(there.connection(), "do", there.context(), text="child")
    await there.close()
    left = running(mark)
    for pid in left:  # it took itself out of the group: only the wall ends that, and it is tried there
        import os

        os.kill(pid, 9)
    assert len(left) <= 1


async def test_every_kind_of_content_comes_through(servers):
    there = servers(odd=odd())
    context = there.context()
    parts = await result_of(await there.connection().call("everything", {}, context), context)
    texts = [part.text for part in parts if isinstance(part, Text)]
    pictures = [part for part in parts if isinstance(part, Blob)]
    assert [one.media_type for one in pictures] == ["image/png"]
    assert texts[0] == "a text"
    assert "audio/wav" in texts[1]
    assert "demo://x" in texts[2]
    assert texts[3] == "inner text"
    assert "kept in" in texts[4]
    assert json.loads(texts[5]) == {"answer": 42}


@pytest.mark.parametrize("wall", [True, False])
@pytest.mark.parametrize("what", ["link", "pipe"])
async def test_what_lies_where_a_server_writes_is_not_followed(servers, tmp_path, what, wall):
    """What a server says to people is a file that it can change into a link: no wall is crossed by reading that."""
    if wall and chosen("auto") == "none":
        pytest.skip("does not claim: nothing here makes a wall")
    kept = tmp_path / "of-the-person.txt"
    kept.write_text("nobody else's")
    there = servers(
        bad=odd("--when", "initialize", "--do", f"link {kept}" if what == "link" else what, wall=wall),
        odd=odd(wall=wall),
    )
    for _ in range(2):
        with pytest.raises(ToolError) as caught:
            await asyncio.wait_for(said(there.connection("bad"), "echo", there.context(), text="x"), 20)
        assert "nobody else's" not in str(caught.value)
    assert kept.read_text() == "nobody else's"


async def test_an_answer_that_is_odd_ends_its_call(servers):
    """Half of an emoji, as where a text was cut, is read over; and what cannot be read at all is said to be so."""
    there = servers(odd=odd(timeout=60.0))
    context = there.context()
    async with asyncio.timeout(20):
        assert await said(there.connection(), "half", context) == "cut ?"
        with pytest.raises(ToolError, match=r"failed|cannot be read"):
            await said(there.connection(), "deep", context)


@pytest.mark.skipif(sys.platform != "linux", reason="does not claim: only Linux says who is at the other end")
@pytest.mark.parametrize("wall", [True, False])
async def test_a_server_is_known_as_what_hermes_started(servers, wall):
    """Also one out of the wall: so neither `hermes` nor a host of the home takes it for a person."""
    if wall and chosen("auto") == "none":
        pytest.skip("does not claim: nothing here makes a wall")
    there = servers(odd=odd(wall=wall))
    locks, mark = json.loads(await said(there.connection(), "who", there.context()))
    assert int(locks) <= LOCKS
    assert mark


async def test_a_server_that_always_changes_is_asked_now_and_then(servers):
    there = servers(odd=odd())
    context = there.context()
    before = int(await said(there.connection(), "changes", context))
    await asyncio.sleep(1)
    assert 0 < int(await said(there.connection(), "changes", context)) - before < 20


async def test_a_server_of_the_sessions_folder_writes_there(servers):
    """Its script is named by its path, and lies in the folder: which stays one that it may change."""
    if chosen("auto") == "none":
        pytest.skip("does not claim: nothing here makes a wall")
    there = servers(odd=odd(wall=True))
    script = there.folder / "own_server.py"
    script.write_bytes(ODD.read_bytes())
    there.rows["own"] = ServerSettings(**{**odd(wall=True), "args": [str(script)]})
    assert await said(there.connection("own"), "write", there.context(), text=str(there.folder / "x")) == "written"


@pytest.mark.parametrize("what", ["die", "flood"])
async def test_a_call_ends_with_its_server_and_the_next_one_has_another(servers, what):
    there = servers(odd=odd())
    connection, context = there.connection(), there.context()
    with pytest.raises(ToolError, match="ended while it worked"):
        await connection.call("do", {"text": what}, context)
    began = time.monotonic()
    assert await said(connection, "echo", context, text="again") == "again"
    assert time.monotonic() - began < 5


async def test_a_call_that_only_looks_is_made_again_when_its_server_died(servers, tmp_path):
    there = servers(odd=odd("--when", "call", "--do", "die", "--once", tmp_path / "once"))
    connection, context = there.connection(), there.context()
    answer = await connection.call("echo", {"text": "twice"}, context, again=True)
    assert answer.content[0].text == "twice"


async def test_a_call_that_hangs_ends_at_its_deadline_and_its_server_is_replaced(servers):
    mark = uuid4().hex
    there = servers(odd=odd(mark=mark, timeout=0.5))
    connection, context = there.connection(), there.context()
    await connection.client()
    with pytest.raises(ToolError, match=r"did not answer within 0\.5 s"):
        await connection.call("do", {"text": "hang"}, context)
    before = running(mark)
    assert await again(connection, context) == "now"
    await until(lambda: len(running(mark)) == 1)
    assert running(mark) != before


async def again(connection, context):
    """Call until it is answered; on a machine that is at work a server may need more than one try to be in time."""
    for _ in range(100):
        try:
            return await said(connection, "echo", context, text="now")
        except ToolError:
            await asyncio.sleep(0.2)
    return "never"


@pytest.mark.parametrize("when", ["start", "initialize", "list"])
@pytest.mark.parametrize("what", ["die", "hang"])
async def test_a_server_that_fails_at_first_is_there_at_the_next_try(servers, tmp_path, when, what):
    mark = uuid4().hex
    row = odd("--when", when, "--do", what, "--once", tmp_path / "once", mark=mark, connect_timeout=2.0)
    there = servers(odd=row)
    connection, context = there.connection(), there.context()
    with pytest.raises(ToolError, match="odd"):
        await connection.client()
    assert await again(connection, context) == "now"
    await there.close()
    assert not running(mark)


@pytest.mark.parametrize("when", ["start", "initialize", "list", "call"])
async def test_garbage_between_messages_is_read_over(servers, when):
    there = servers(odd=odd("--when", when, "--do", "garbage"))
    assert await said(there.connection(), "echo", there.context(), text="clear") == "clear"


async def test_a_server_that_is_never_there_is_not_tried_without_end(servers):
    there = servers(odd=odd("--when", "start", "--do", "die"))
    connection = there.connection()
    for _ in range(2):
        with pytest.raises(ToolError):
            await connection.client()
    began = time.monotonic()
    with pytest.raises(ToolError, match="tried again in"):
        await connection.client()
    assert time.monotonic() - began < 0.2


async def test_a_cancelled_call_leaves_the_connection_in_use(servers):
    there = servers(odd=odd())
    connection, context = there.connection(), there.context()
    await connection.client()
    task = asyncio.ensure_future(connection.call("do", {"text": "slow"}, context))
    await asyncio.sleep(0.1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not connection.calls
    assert await said(connection, "echo", context, text="still") == "still"


async def test_a_list_that_changes_is_known_soon(servers):
    there = servers(odd=odd())
    connection, context = there.connection(), there.context()
    await said(connection, "more", context, text="made_later")

    def names():
        listed = there.pool.lists.get("odd", there.rows["odd"])
        return [one.name for one in listed.tools] if listed else []

    await until(lambda: "made_later" in names())
    await connection.call("less", {}, context)
    await until(lambda: "made_later" not in names())


async def test_a_person_is_asked_in_the_servers_name_field_by_field(servers):
    there = servers(odd=odd(timeout=20.0))
    context = there.context(["Ada", "x", "", "green", "blue"])
    answer = json.loads(await said(there.connection(), "ask", context))
    assert answer == {"action": "accept", "content": {"name": "Ada", "age": 7, "colour": "blue"}}
    assert all(one.subject.startswith("The MCP server odd asks: Who are you?") for one in context.asked)


async def test_with_nobody_there_a_question_is_cancelled(servers):
    there = servers(odd=odd(timeout=20.0))
    assert json.loads(await said(there.connection(), "ask", there.context())) == {"action": "cancel"}


async def test_the_model_is_asked_only_where_settings_let_it_and_within_bounds(servers, monkeypatch):
    reply = Response(message=Message(role="assistant", parts=(Text(text="thought"),)), reason="stop", usage=Usage())
    there, requests = servers([reply, reply], odd=odd(sampling=1)), []
    complete = there.ctx.llm.complete

    async def seen(request, **more):
        requests.append(request)
        return await complete(request, **more)

    monkeypatch.setattr(there.ctx.llm, "complete", seen)
    connection, context = there.connection(), there.context()
    assert json.loads(await said(connection, "think", context, text="hm"))["content"]["text"] == "thought"
    assert [one.options["max_tokens"] for one in requests] == [4096]
    assert requests[0].messages[-1].untrusted
    assert "no more than 1" in await said(connection, "think", context, text="hm")


async def test_without_the_setting_a_server_hears_that_no_model_is_there(servers):
    there = servers(odd=odd())
    assert "not supported" in (await said(there.connection(), "think", there.context(), text="hm")).lower()


async def test_a_tool_that_nobody_can_use_costs_no_other(servers):
    there = servers(odd=odd("--bad"))
    assert await said(there.connection(), "echo", there.context(), text="hello") == "hello"
    listed = there.pool.lists.get("odd", there.rows["odd"])
    names = {one.name for one in listed.tools}
    assert {"echo", "odd", "look.at/this"} <= names
    left = {one["name"]: one["why"] for one in listed.left}
    assert not names & set(left)
    assert {"no_schema", "of_a_list", "no_such_type", "of_words", "large", "described"} <= set(left)
    assert len(left) == 10
    assert all("\n" not in why for why in left.values())


async def test_what_a_server_grumbles_takes_no_disk(servers, monkeypatch):
    monkeypatch.setattr("hermes_tool_mcp.place._LOOK", 0.05)
    there = servers(odd=odd())
    log = there.ctx.paths.cache / "kept" / "odd" / "said.log"
    for _ in range(2):
        await said(there.connection(), "do", there.context(), text="grumble")
        await until(lambda: log.stat().st_size < 1_000_000 and log.stat().st_blocks * 512 < 2_000_000)


def test_the_end_of_what_was_grumbled_is_known_and_no_link_is_cut(tmp_path):
    log = Said(tmp_path / "said.log")
    log.path.write_bytes(b"x" * 2_000_000 + b" the last word")
    log.bound()
    assert log.path.stat().st_size == 0
    assert log.tail().endswith("the last word")
    log.path.write_text("another")
    assert log.tail() == "another"
    log.path.unlink()
    (tmp_path / "of-the-person").write_bytes(b"x" * 2_000_000)
    log.path.symlink_to(tmp_path / "of-the-person")
    log.bound()
    log.path.unlink()
    log.path.hardlink_to(tmp_path / "of-the-person")
    log.bound()
    assert (tmp_path / "of-the-person").stat().st_size == 2_000_000
