"""Tools of Hermes for clients: which of them, and that each call is a turn that the rules judge."""

import asyncio
import base64
from collections.abc import Sequence

import pytest
from attrs import frozen
from mcp_types import ElicitResult

from hermes_core.errors import UserError
from hermes_core.kinds import tool
from hermes_core.types import Blob, Effect, Failed, Part, Text, TurnOrder
from hermes_platform_mcp_serve.chosen import chosen

from .conftest import MODULE, called

LOUD = []


@frozen(kw_only=True)
class Words:
    """What is said."""

    text: str


@tool(toolset="library", effects=(), idempotent=True, untrusted=True)
async def look_up(given: Words) -> str:
    """Look a word up."""
    return f"{given.text} is a word."


@tool(toolset="library", effects={Effect.SEND})
async def shout(given: Words) -> str:
    """Tell everybody."""
    LOUD.append(given.text)
    return "told"


@tool(toolset="library", effects={Effect.EXECUTE})
async def run_it(given: Words) -> str:
    """Run a command."""
    raise AssertionError("nobody outside runs commands")


@tool(toolset="files", effects={Effect.READ_FILES})
async def read_it(given: Words) -> str:
    """Read a file."""
    raise AssertionError("nobody outside reads files")


@tool(toolset="library", effects=())
async def fails(given: Words) -> str:
    """Fail."""
    raise RuntimeError("broken")


@tool(toolset="library", effects=())
async def picture(given: Words) -> Sequence[Part]:
    """Draw a word."""
    return [
        Text(text=given.text),
        Blob(media_type="image/png", data=b"\x89PNG"),
        Blob(media_type="audio/wav", data=b"R"),
    ]


@tool(toolset="library", effects=())
async def slow(given: Words) -> str:
    """Think for long."""
    LOUD.append("begun")
    try:
        await asyncio.sleep(1000)
    finally:
        LOUD.append("ended")
    return "never"


@pytest.fixture
def library(hermes, scripted):
    LOUD.clear()
    hermes.tmp_plugin(scripted())
    hermes.tmp_plugin(MODULE)
    hermes.tmp_plugin(look_up, shout, run_it, read_it, fails, picture, slow, name="library")
    return hermes


async def test_a_toolset_is_served_without_what_runs_commands(library, connected):
    async with connected(tools=["library"]) as client:
        tools = {one.name: one for one in (await client.list_tools()).tools}
        assert {"look_up", "shout"} <= set(tools)
        assert not {"run_it", "read_it"} & set(tools)
        assert tools["look_up"].input_schema["required"] == ["text"]
        assert tools["look_up"].annotations.read_only_hint
        assert not tools["shout"].annotations.read_only_hint


@pytest.mark.parametrize("word", ["terminal", "files", "kanban", "run_it", "read_it", "nonsense"])
async def test_what_runs_commands_or_is_of_files_is_refused_by_name(library, word):
    with pytest.raises(UserError, match="--tools"):
        await chosen(library.context(MODULE), [word])


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_call_is_a_turn_that_no_list_shows(library, connected, mode):
    async with connected(tools=["look_up"], mode=mode) as client:
        answer = await client.call_tool("look_up", {"text": "wall"})
        assert not answer.is_error
        assert "wall is a word." in answer.content[0].text
        assert "<untrusted" in answer.content[0].text
        assert (await called(client, "conversations_list"))["conversations"] == []
        assert "text" in await called(client, "look_up")
    ctx = library.context(MODULE)
    [row] = await ctx.sessions.rows(ctx.owner, children=True)
    assert (row.tool_calls, row.state) == (1, "idle")


async def test_what_needs_a_yes_is_refused_where_nobody_can_be_asked(library, connected):
    async with connected(tools=["shout"]) as client:
        answer = await client.call_tool("shout", {"text": "fire"})
        assert answer.is_error
        assert LOUD == []


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize(("action", "told"), [("accept", ["fire"]), ("decline", []), ("cancel", [])])
async def test_the_person_in_front_of_the_client_is_asked(library, connected, action, told, mode):
    heard = []

    async def elicit(_context, params):
        heard.append(params.message)
        return ElicitResult(action=action, content={} if action == "accept" else None)

    async with connected(tools=["shout"], mode=mode, elicitation_callback=elicit) as client:
        answer = await client.call_tool("shout", {"text": "fire"})
        assert answer.is_error is not bool(told)
    assert told == LOUD
    assert "shout" in heard[0]


async def test_a_tool_that_fails_says_so_and_the_server_goes_on(library, connected):
    async with connected(tools=["fails", "look_up"]) as client:
        assert (await client.call_tool("fails", {"text": "x"})).is_error
        assert not (await client.call_tool("look_up", {"text": "x"})).is_error


async def test_nobody_goes_on_with_a_call_of_somebody_else_and_nobody_twice(library, connected):
    """By 2026-07-28, where each request stands alone and names the call that it goes on with."""

    async def never(_context, _params):
        raise AssertionError("it is asked by hand here")

    ctx = library.context(MODULE)
    given = {"text": "fire"}
    yes = {"approval": ElicitResult(action="accept", content={})}
    async with connected(tools=["shout"], ctx=ctx, elicitation_callback=never) as client:

        def call(who, **more):
            return who.session.call_tool("shout", given, allow_input_required=True, **more)

        asked = await call(client)
        assert asked.result_type == "input_required"
        assert "shout" in asked.input_requests["approval"].params.message
        async with connected(tools=["shout"], ctx=ctx, owner="alice", elicitation_callback=never) as alice:
            stolen = await call(alice, request_state=asked.request_state, input_responses=yes)
            assert (stolen.is_error, LOUD) == (True, [])
        again = await call(client)
        done = await call(client, request_state=again.request_state, input_responses=yes)
        assert (done.is_error, LOUD) == (False, ["fire"])
        repeated = await call(client, request_state=again.request_state, input_responses=yes)
        assert (repeated.is_error, LOUD) == (True, ["fire"])


async def test_pictures_come_through_and_other_files_are_named(library, connected):
    async with connected(tools=["picture"]) as client:
        answer = await client.call_tool("picture", {"text": "sun"})
    text, drawn, named = answer.content
    assert (text.text, base64.b64decode(drawn.data), named.text) == ("sun", b"\x89PNG", "[audio/wav]")


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_that_leaves_interrupts_its_call(library, connected, mode):
    async with connected(tools=["slow"], mode=mode) as client:
        call = asyncio.ensure_future(client.call_tool("slow", {"text": "x"}))
        while "begun" not in LOUD:
            await asyncio.sleep(0.01)
        call.cancel()
        async with asyncio.timeout(20):
            while "ended" not in LOUD:
                await asyncio.sleep(0.01)
    ctx = library.context(MODULE)
    async with asyncio.timeout(20):
        while (await ctx.sessions.rows(ctx.owner, children=True))[0].state == "running":
            await asyncio.sleep(0.01)


async def test_an_answer_that_comes_too_late_does_nothing(library, connected, monkeypatch):
    monkeypatch.setattr("hermes_platform_mcp_serve.ongoing._PATIENCE", 0.05)

    async def never(_context, _params):
        raise AssertionError("it is asked by hand here")

    async with connected(tools=["shout"], elicitation_callback=never) as client:
        asked = await client.session.call_tool("shout", {"text": "fire"}, allow_input_required=True)
        ctx = library.context(MODULE)
        async with asyncio.timeout(20):
            while (await ctx.sessions.rows(ctx.owner, children=True))[0].state == "running":
                await asyncio.sleep(0.01)
        yes = {"approval": ElicitResult(action="accept", content={})}
        late = await client.session.call_tool(
            "shout", {"text": "fire"}, allow_input_required=True, request_state=asked.request_state, input_responses=yes
        )
    assert late.is_error
    assert LOUD == []


async def test_who_makes_the_calls_answers_nothing_else(library):
    order = TurnOrder(model="mcp-serve:call")
    events = [one async for one in library.context(MODULE).turns.run("What is the time?", order=order)]
    [failed] = [one for one in events if isinstance(one, Failed)]
    assert "answers nothing else" in failed.text
