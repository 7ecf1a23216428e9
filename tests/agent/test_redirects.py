"""A call that a plugin has answered by another tool: judged and stored as that; the model sees its own words."""

from attrs import frozen

from hermes_core.hooks import hookimpl
from hermes_core.kinds import tool
from hermes_core.testing import Call
from hermes_core.types import Returned, Text, ToolCall, ToolResult, Verdict


@frozen
class Line:
    text: str


@tool
async def first(line: Line) -> str:
    """Do it."""
    return f"first {line.text}"


@tool
async def second(line: Line) -> str:
    """Do it otherwise."""
    return f"second {line.text}"


class Moves:
    def __init__(self) -> None:
        self.judged = []

    @hookimpl
    async def redirect_tool_call(self, call):
        if call.name != "first" or call.arguments["text"] != "move":
            return None
        return ToolCall(id="made up", name="second", arguments={"text": "moved"}, meta={"mine": 1})

    @hookimpl
    async def pre_tool_call(self, call):
        self.judged.append((call.name, dict(call.arguments)))
        return Verdict(outcome="allow") if call.arguments["text"] != "no" else None


async def play(hermes, scripted, *steps):
    model, moves = scripted(*steps, "ok"), Moves()
    hermes.tmp_plugin(model)
    hermes.tmp_plugin(first, second, name="tools")
    hermes.tmp_plugin(moves.redirect_tool_call, moves.pre_tool_call, name="moves")
    events = [event async for event in hermes.turn("go", session="s")]
    results = [event.result for event in events if isinstance(event, Returned)]
    said = ["".join(p.text for p in one.parts if isinstance(p, Text)) for one in results]
    return model, moves, said


async def test_it_is_judged_run_and_stored_as_the_other_and_shown_to_the_model_as_its_own(hermes, scripted) -> None:
    model, moves, said = await play(hermes, scripted, [Call("first", {"text": "move"})], [Call("first", {"text": "x"})])
    assert said == ["second moved", "first x"]
    assert moves.judged == [("second", {"text": "moved"}), ("first", {"text": "x"})]
    told = [part for message in model.requests[-1].messages for part in message.parts]
    calls = [(p.name, dict(p.arguments)) for p in told if isinstance(p, ToolCall)]
    assert calls == [("first", {"text": "move"}), ("first", {"text": "x"})]
    assert [p.name for p in told if isinstance(p, ToolResult)] == ["first", "first"]
    stored = await (await hermes.runtime.store()).history.load("s")
    kept = [p for message in stored for p in message.parts if isinstance(p, ToolCall)]
    assert [(p.name, "mine" in p.meta) for p in kept] == [("second", False), ("first", False)], "only words may change"


async def test_a_call_through_another_is_redirected_too_and_keeps_what_the_model_wrote(hermes, scripted) -> None:
    through = {"name": "first", "arguments": {"text": "move"}}
    model, moves, said = await play(hermes, scripted, [Call("tool_call", through)])
    assert said == ["second moved"]
    assert moves.judged == [("second", {"text": "moved"})]
    told = [part for message in model.requests[-1].messages for part in message.parts]
    assert [(p.name, dict(p.arguments)) for p in told if isinstance(p, ToolCall)] == [("tool_call", through)]
