"""Hundreds of tools are found by search; a call of a found one is a call like any other."""

import json

import pytest
from attrs import frozen

from hermes_core.hooks import hookimpl
from hermes_core.kinds import tool
from hermes_core.testing import Call
from hermes_core.types import Effect, Returned, Text, ToolCall, Verdict


@frozen
class Words:
    text: str
    often: int = 1


def make(number: int, ran: list):
    async def some(words: Words) -> str:
        """Open a ticket in tracker number NN, with a long description of what it is good for and when not to use it."""
        ran.append((number, words))
        return f"opened {words.text} x{words.often}"

    some.__doc__ = (some.__doc__ or "").replace("NN", str(number))
    return tool(name=f"mcp__tracker__open_{number}", toolset=f"tracker{number % 3}", effects=[Effect.SEND])(some)


@tool(toolset="files", idempotent=True, touches=lambda _words: ())
async def look(words: Words) -> str:
    """Look."""
    return words.text


def kit(hermes, scripted, *steps, count: int = 300, **settings):
    ran: list = []
    provider = scripted(*steps)
    hermes.tmp_plugin(provider)
    hermes.tmp_plugin(look)
    hermes.tmp_plugin(*(make(n, ran) for n in range(count)), name="many")
    hermes.tmp_plugin("hermes_tool_search")
    hermes.configure({"policy.mode": "off", **settings})
    return provider, ran


def size(request) -> int:
    return len(json.dumps([[s.name, s.description, s.schema] for s in request.tools]))


def text_of(result) -> str:
    return "".join(p.text for p in result.parts if isinstance(p, Text))


async def play(hermes):
    return [event async for event in hermes.turn("go", session="s")]


async def test_three_tools_stand_for_three_hundred(hermes, scripted) -> None:
    provider, ran = kit(
        hermes,
        scripted,
        Call("tool_search", {"query": "ticket tracker 17", "limit": 3}),
        Call("tool_describe", {"names": ["mcp__tracker__open_17", "mcp__tracker__opne_18"]}),
        Call("tool_call", {"name": "mcp__tracker__open_17", "arguments": {"text": "leak"}}),
        "done",
    )
    found, described, opened = [text_of(e.result) for e in await play(hermes) if isinstance(e, Returned)]
    assert [s.name for s in provider.requests[0].tools] == ["look", "tool_search", "tool_describe", "tool_call"]
    assert size(provider.requests[0]) < 2500
    assert "tracker0 (100)" in provider.requests[0].tools[1].description
    assert len(found.splitlines()) == 3
    assert '"required": ["text"]' in described
    assert "Did you mean mcp__tracker__open_18" in described
    assert opened == "opened leak x1"
    assert ran == [(17, Words(text="leak"))]


async def test_what_was_sent_stays_as_it_was(hermes, scripted) -> None:
    call = Call("tool_call", {"name": "mcp__tracker__open_1", "arguments": {"text": "a"}})
    provider, _ = kit(hermes, scripted, call, call, "done")
    await play(hermes)
    for before, after in zip(provider.requests, provider.requests[1:], strict=False):
        assert after.tools == before.tools
        assert list(after.messages[: len(before.messages)]) == list(before.messages)
    said = provider.requests[1].messages[-2].parts[0]
    assert isinstance(said, ToolCall)
    assert (said.name, dict(said.arguments)) == (call.name, call.arguments)
    assert provider.requests[1].messages[-1].parts[0].name == "tool_call"


async def test_everything_but_the_model_sees_the_real_name(hermes, scripted) -> None:
    seen = []

    @hookimpl
    async def pre_tool_call(call, effects) -> Verdict | None:
        seen.append((call.name, dict(call.arguments), effects))
        return Verdict(outcome="deny", reason="not on Fridays") if call.arguments["text"] == "b" else None

    _, ran = kit(
        hermes,
        scripted,
        [
            Call("tool_call", {"name": "mcp__tracker__open_1", "arguments": {"text": "a"}}),
            Call("tool_call", {"name": "mcp__tracker__open_1", "arguments": '{"text": "b"}'}),
            Call("tool_call", {"name": "mcp__tracker__open_1", "arguments": {"texd": "c"}}),
            Call("tool_call", {"name": "mcp__tracker__open_2", "arguments": {"text": "d"}}),
            Call("tool_call", {"arguments": {}}),
        ],
        "done",
        **{"policy.deny": ["mcp__tracker__open_2"]},
    )
    hermes.tmp_plugin(pre_tool_call)
    results = [text_of(e.result) for e in await play(hermes) if isinstance(e, Returned)]
    assert results[0] == "opened a x1"
    assert "not on Fridays" in results[1]
    assert "did you mean text?" in results[2]
    assert "policy.deny" in results[3]
    assert "name: required, and missing" in results[4]
    assert [name for name, *_ in seen] == ["mcp__tracker__open_1"] * 2
    assert seen[0][2] == {Effect.SEND}
    assert [words.text for _, words in ran] == ["a"]
    history = await (await hermes.runtime.store()).history.tool_calls(hermes.runtime.owner, tool="mcp__tracker__open_1")
    assert sorted(e.outcome for e in history) == ["failed", "ok", "refused"]


@pytest.mark.parametrize(("mode", "count", "searched"), [("auto", 5, False), ("on", 5, True), ("off", 300, False)])
async def test_when_tools_are_searched_for(hermes, scripted, mode, count, searched) -> None:
    provider, _ = kit(hermes, scripted, "done", count=count, **{"agent.tool_search": mode})
    await play(hermes)
    assert ("tool_call" in [s.name for s in provider.requests[0].tools]) == searched


async def test_core_toolsets_are_always_whole(hermes, scripted) -> None:
    provider, _ = kit(hermes, scripted, "done", **{"agent.core_toolsets": ["tracker0"], "agent.tool_search": "on"})
    await play(hermes)
    names = [s.name for s in provider.requests[0].tools]
    assert len(names) == 103
    assert "look" not in names


async def test_a_session_that_began_with_all_of_them_keeps_them(hermes, scripted, tmp_path) -> None:
    from hermes_core.testing.bench import Bench

    first, _ = kit(hermes, scripted, "one", count=40, **{"model.context_length": 200_000})
    await play(hermes)
    await hermes.close()
    again = Bench(tmp_path / "home")
    second, _ = kit(again, scripted, "two", count=40, **{"model.context_length": 8_000})
    await play(again)
    await again.close()
    assert len(first.requests[0].tools) == 41
    assert second.requests[0].tools == first.requests[0].tools
