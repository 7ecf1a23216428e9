"""What those who watch a turn are told: its start and end, how long things took, and whose work it is."""

import asyncio
import json
import logging
from itertools import pairwise
from types import SimpleNamespace

import pytest
from attrs import frozen

from hermes_core import trace
from hermes_core.cli.log import start_logging
from hermes_core.errors import Refused
from hermes_core.hooks import hookimpl
from hermes_core.kinds import tool
from hermes_core.store import leases
from hermes_core.testing import Call, Fail
from hermes_core.types import CallDelta, Done, Effect, Ended, Envelope, Message, Session, Text, TextDelta


@frozen
class Words:
    text: str = ""


@tool(effects=[Effect.SEND])
async def danger(params: Words) -> str:
    """Do something risky."""
    return params.text


@tool
async def look(params: Words) -> str:
    """Look which message this is about."""
    return trace.current()


@pytest.fixture
def seen(hermes) -> SimpleNamespace:
    """What a plugin hears of turns."""
    told = SimpleNamespace(hooks=[], traces=set(), turns=set(), calls=[], replies=[], ends=[], said=[])

    def hear(name, session) -> None:
        told.hooks.append(name)
        told.traces.add(trace.current())
        told.turns.add(session.turn)

    @hookimpl
    async def on_turn_start(session, message) -> None:
        hear("start", session)
        told.said.append("".join(p.text for p in message.parts))

    @hookimpl
    async def post_llm_call(session, seconds) -> None:
        hear("llm", session)
        told.replies.append(seconds)

    @hookimpl
    async def post_tool_call(session, call, outcome, seconds) -> None:
        hear("tool", session)
        told.calls.append((call.name, outcome, seconds >= 0))

    @hookimpl
    async def on_turn_end(session, end) -> None:
        hear("end", session)
        told.ends.append(end)

    hermes.tmp_plugin(danger, look, on_turn_start, post_llm_call, post_tool_call, on_turn_end)
    return told


async def play(hermes, text="hello", **options):
    events = [event async for event in hermes.turn(text, **options)]
    await hermes.runtime.dispatch.settle()
    return events


async def test_a_reply_is_told_as_it_comes_and_each_by_itself(hermes, scripted) -> None:
    heard = list[str]()

    @hookimpl
    async def on_words(session, request, text) -> None:
        assert request.messages[-1].role in ("user", "tool")
        assert session.turn
        heard.append(text)

    @tool
    async def look() -> str:
        """Look around."""
        return "a wall"

    hermes.tmp_plugin(look, on_words)
    call = [TextDelta(text="I look."), CallDelta(index=0, id="1", name="look", arguments="{}"), Done(reason="tools")]
    hermes.tmp_plugin(scripted(call, "It is a wall."))
    await play(hermes)
    assert heard[0] == "I look."
    assert heard[-1] == "It is a wall."
    assert all(later.startswith(before) for before, later in pairwise(heard[1:]))


async def test_every_step_of_a_turn_is_told_with_one_trace(hermes, scripted, seen) -> None:
    hermes.tmp_plugin(scripted([Call("look"), Call("danger", {"text": "x"})], Call("nonsense"), "done"))
    ended = (await play(hermes))[-1]
    assert seen.hooks == ["start", "llm", "tool", "tool", "llm", "tool", "llm", "end"]
    assert seen.said == ["hello"]
    assert seen.turns == {ended.turn_id}
    assert seen.calls == [("look", "ok", True), ("danger", "refused", True), ("nonsense", "failed", True)]
    assert all(seconds > 0 for seconds in seen.replies)
    [end] = seen.ends
    assert (end.reason, end.error, end.usage) == ("done", "", ended.usage)
    assert end.seconds >= sum(seen.replies)
    [mine] = seen.traces
    assert len(mine) == 16
    store = await hermes.runtime.store()
    calls = await store.history.tool_calls(hermes.runtime.owner, session_id=ended.session_id)
    assert next(call.output for call in calls if call.name == "look") == mine


async def test_two_turns_have_two_traces(hermes, scripted, seen) -> None:
    hermes.tmp_plugin(scripted("one", "two"))
    await play(hermes)
    await play(hermes)
    assert len(seen.traces) == 2


async def test_a_failed_turn_says_why_in_one_word(hermes, scripted, seen) -> None:
    hermes.tmp_plugin(scripted(Fail(Refused("no such model", reason="model_not_found"))))
    await play(hermes)
    assert seen.hooks == ["start", "end"]
    assert [(end.reason, end.error) for end in seen.ends] == [("failed", "model_not_found")]


async def test_a_turn_that_breaks_says_what_broke(hermes, scripted, seen) -> None:
    hermes.tmp_plugin(scripted(Fail(ValueError("oh"))))
    await play(hermes)
    assert [(end.reason, end.error) for end in seen.ends] == [("failed", "server_error")]
    assert [(fault.where, fault.error) for fault in hermes.runtime.dispatch.faults] == [("stream", "ValueError: oh")]


async def test_a_stopped_turn_has_its_end(hermes, scripted, seen) -> None:
    begun = asyncio.Event()

    @tool
    async def wait(params: Words) -> str:
        """Wait."""
        begun.set()
        await asyncio.Event().wait()
        return ""

    hermes.tmp_plugin(scripted(Call("wait")))
    hermes.tmp_plugin(wait)
    playing = asyncio.ensure_future(play(hermes, session="s"))
    await begun.wait()
    hermes.runtime.turns.interrupt("s")
    ended = (await playing)[-1]
    assert isinstance(ended, Ended)
    assert [end.reason for end in seen.ends] == ["interrupted"]


async def test_what_waited_is_played_with_the_trace_it_came_with(hermes, scripted, seen) -> None:
    hermes.tmp_plugin(scripted("done"))
    said = Message(role="user", parts=(Text(text="hi"),))
    envelope = Envelope(platform="irc", account="b", event_id="1", chat="c", sender="s", message=said)
    with trace.using("feedfacefeedface"):
        await hermes.runtime.turns.queue("s", said, envelope=envelope)
    assert [event async for event in hermes.runtime.turns.follow("s")]
    await hermes.runtime.dispatch.settle()
    assert seen.traces == {"feedfacefeedface"}


async def test_log_lines_of_a_turn_have_its_trace(hermes, scripted, seen) -> None:
    hermes.tmp_plugin(scripted(Call("look"), "done"))
    start_logging(hermes.runtime.home, hermes.runtime.settings)
    try:
        await play(hermes)
    finally:
        for name in ("hermes_core", "hermes"):
            logging.getLogger(name).handlers.clear()
            logging.getLogger(name).propagate = True
    lines = [json.loads(line) for line in (hermes.runtime.home.logs / "hermes.log").read_text().splitlines()]
    assert {line["event"] for line in lines} >= {"turn", "tool call"}
    assert {line["trace"] for line in lines} == seen.traces


async def test_a_turn_that_is_taken_over_goes_on_with_its_trace(hermes, scripted, seen, monkeypatch) -> None:
    hermes.tmp_plugin(scripted("done"))
    said = Message(role="user", parts=(Text(text="hi"),))
    envelope = Envelope(platform="irc", account="b", event_id="1", chat="c", sender="s", message=said)
    store = await hermes.runtime.store()
    await store.sessions.create(Session(id="s", origin="irc", owner=hermes.runtime.owner))
    about = {"turn_id": "t", "holder": "dead", "provider": "scripted", "model": "scripted-1"}
    await store.journal.open_turn("s", said, envelope=envelope, trace="feedfacefeedface", **about)
    now = leases._now
    monkeypatch.setattr(leases, "_now", lambda tx: now(tx) + leases.LIFE * 2)
    assert [event async for event in hermes.runtime.turns.resume("s")]
    await hermes.runtime.dispatch.settle()
    assert (seen.hooks, seen.said, seen.traces) == (["start", "llm", "end"], ["hi"], {"feedfacefeedface"})
