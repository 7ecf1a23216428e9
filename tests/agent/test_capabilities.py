"""A tool gets what its effects declare; the rest is refused, told to the model, and recorded."""

from typing import Any

import pytest
from attrs import frozen

from hermes_core.kinds import ToolContext, tool
from hermes_core.testing import Call
from hermes_core.types import Effect, ExecRequest, Question, Returned

ACTIONS = {
    "run": [Effect.READ_FILES, Effect.WRITE_FILES, Effect.EXECUTE],
    "start": [Effect.EXECUTE],
    "read": [Effect.READ_FILES, Effect.WRITE_FILES, Effect.EXECUTE],
    "write": [Effect.WRITE_FILES, Effect.EXECUTE],
    "ask": [Effect.ASK, Effect.EXECUTE],
    "close": [],
}


@frozen
class Action:
    what: str


async def do(context: ToolContext, what: str) -> None:
    place = context.workspace
    if what == "run":
        await place.run(ExecRequest(argv=("true",)))
    elif what == "start":
        await place.start(ExecRequest(argv=("true",)))
    elif what == "read":
        await place.read("there.txt")
    elif what == "write":
        await place.write("new.txt", b"x")
    elif what == "close":
        await place.close()
    else:
        await context.ask(Question(id="q", kind="text", subject="?"))


@pytest.mark.parametrize("effect", [None, *Effect])
@pytest.mark.parametrize("what", ACTIONS)
@pytest.mark.few(24)
async def test_a_tool_does_what_it_declares_and_nothing_else(
    hermes: Any, scripted: Any, what: str, effect: Effect | None
) -> None:
    hermes._options["strict"] = False
    hermes.configure({"policy.mode": "off"})

    @tool(name="action", effects=[effect] if effect else [], touches=lambda _: ())
    async def action(context: ToolContext, action: Action) -> str:
        """Do it."""
        await do(context, action.what)
        return "done"

    (hermes.workspace.folder / "there.txt").write_text("x")
    hermes.tmp_plugin(scripted(Call("action", {"what": what}), "ok"))
    label = hermes.tmp_plugin(action)
    [result] = [e.result async for e in hermes.turn("go") if isinstance(e, Returned)]
    text = result.parts[0].text
    refused = "does not declare that effect" in text
    assert refused == (effect not in ACTIONS[what])
    assert result.failed == (refused or what == "start")  # this workspace starts nothing
    reported = [f.plugin for f in hermes.runtime.dispatch.faults]
    assert reported == ([label] if refused else [])
    assert not (hermes.workspace.folder / "new.txt").exists() or not refused
