"""The request that tells of a result leaves while that is stored; nobody acts on the reply, or sees it, before."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from attrs import evolve, frozen

from hermes_core.errors import StoreError
from hermes_core.hooks import hookimpl
from hermes_core.kinds import ToolContext, tool
from hermes_core.store.journal import Journal
from hermes_core.testing import Call
from hermes_core.types import Called, Ended, Failed, Returned, Said, ToolResult, Verdict


@frozen
class Words:
    text: str = ""


@tool(touches=lambda _params: ())
async def shout(params: Words) -> str:
    """Shout."""
    return params.text.upper()


async def play(hermes: Any, **options: Any) -> list[Any]:
    return [event async for event in hermes.turn("hello", **options)]


def watching(provider: Any, hermes: Any) -> list[list[str]]:
    """What the store holds of results when each request has left."""
    found: list[list[str]] = []
    stream = provider.stream

    async def watched(request: Any) -> AsyncIterator[Any]:
        store = await hermes.runtime.store()
        rows = store.database.connection.execute("SELECT outcome FROM tool_calls ORDER BY id").fetchall()
        found.append([row[0] for row in rows])
        async for delta in stream(request):
            yield delta

    provider.stream = watched
    return found


async def test_of_one_call_the_request_leaves_first_and_of_several_the_rows_do(hermes: Any, scripted: Any) -> None:
    alone, first, second = Call("shout", {"text": "a"}), Call("shout", {"text": "b"}), Call("shout", {"text": "c"})
    provider = scripted([alone], [first, second], "Done.")
    hermes.tmp_plugin(provider, shout)
    async with hermes:
        await hermes.runtime.store()
        found = watching(provider, hermes)
        events = await play(hermes)
    assert found == [[], ["started"], ["ok", "ok", "ok"]]
    shown = [type(event) for event in events if isinstance(event, Called | Returned | Said | Ended)]
    assert shown == [Called, Returned, Called, Called, Returned, Returned, Said, Ended]


async def test_what_is_said_meanwhile_is_below_the_result_that_leaves(hermes: Any, scripted: Any) -> None:
    @tool(touches=lambda _params: ())
    async def waits(context: ToolContext, params: Words) -> str:
        """Wait for a word."""
        await hermes.steer(context.session.id, "psst")
        return params.text

    provider = scripted([Call("waits", {"text": "a"})], "Done.")
    hermes.tmp_plugin(provider, waits)
    async with hermes:
        await hermes.runtime.store()
        found = watching(provider, hermes)
        await play(hermes, session="s")
    assert found == [[], ["ok"]]
    (result,) = [part for part in provider.requests[-1].messages[-1].parts if isinstance(part, ToolResult)]
    assert "psst" in "".join(part.text for part in result.parts)


async def test_a_reply_to_what_could_not_be_stored_is_no_reply(hermes: Any, scripted: Any, monkeypatch: Any) -> None:
    async def full(*_: object, **__: object) -> None:
        raise StoreError("The disk is full.")

    provider = scripted([Call("shout", {"text": "a"})], [Call("shout", {"text": "b"})])
    hermes.tmp_plugin(provider, shout)
    monkeypatch.setattr(Journal, "finish_call", full)
    events = await play(hermes)
    assert [event.call.arguments["text"] for event in events if isinstance(event, Called)] == ["a"]
    assert not [event for event in events if isinstance(event, Returned | Said)]
    assert ["The disk is full." in event.text for event in events if isinstance(event, Failed)] == [True]
    assert (events[-1].reason, len(provider.requests)) == ("failed", 2)


async def test_a_turn_that_is_ended_before_the_request_has_shown_the_result(hermes: Any, scripted: Any) -> None:
    @hookimpl
    async def next_step(number: int) -> Verdict | None:
        return Verdict(outcome="deny", reason="enough") if number > 1 else None

    hermes.tmp_plugin(scripted([Call("shout", {"text": "a"})]), shout, next_step)
    events = await play(hermes)
    shown = [type(event) for event in events if isinstance(event, Called | Returned | Failed | Ended)]
    assert shown == [Called, Returned, Failed, Ended]


async def test_a_turn_that_is_stopped_as_the_request_leaves_keeps_the_result(hermes: Any, scripted: Any) -> None:
    provider = scripted([Call("shout", {"text": "a"})])
    hermes.tmp_plugin(provider, shout)
    stream, left = provider.stream, [False, True]

    async def stopping(request: Any) -> AsyncIterator[Any]:
        if left.pop(0):
            hermes.runtime.turns.interrupt("s")
            await asyncio.sleep(10)
        async for delta in stream(request):
            yield delta

    provider.stream = stopping
    async with hermes:
        events = await play(hermes, session="s")
        store = await hermes.runtime.store()
        rows = store.database.connection.execute("SELECT outcome FROM tool_calls").fetchall()
    assert [row[0] for row in rows] == ["ok"]
    assert [event.result.parts[0].text for event in events if isinstance(event, Returned)] == ["A"]
    assert events[-1].reason == "interrupted"


async def test_the_model_is_told_what_is_stored_whatever_a_plugin_calls_it(hermes: Any, scripted: Any) -> None:
    @hookimpl
    async def transform_tool_result(result: ToolResult) -> ToolResult:
        return evolve(result, call_id="other", name="other")

    provider = scripted([Call("shout", {"text": "a"}, id="c1")], "Done.")
    hermes.tmp_plugin(provider, shout, transform_tool_result)
    async with hermes:
        await play(hermes, session="s")
        (told,) = [part for part in provider.requests[-1].messages[-1].parts if isinstance(part, ToolResult)]
        history = await (await hermes.runtime.store()).history.load("s")
    assert (told.call_id, told.name) == ("c1", "shout")
    assert told in [part for message in history for part in message.parts]
