"""What a tool does wrong is told to the model in words, and its plugin is named."""

from typing import Any

import pytest

from hermes_core.errors import PluginError, ToolError
from hermes_core.kinds import tool
from hermes_core.testing import Call
from hermes_core.types import Returned, Text


async def called(hermes: Any, scripted: Any, action: Any) -> tuple[Any, list[str], str]:
    hermes._options["strict"] = False
    hermes.tmp_plugin(scripted(Call("action"), "ok"))
    label = hermes.tmp_plugin(action, name="cards")
    [result] = [e.result async for e in hermes.turn("go") if isinstance(e, Returned)]
    return result, [f.plugin for f in hermes.runtime.dispatch.faults], label


@pytest.mark.parametrize("output", [{"a": 1}, [Text(text="a"), "b"], [None], 42, None])
async def test_what_is_no_output_is_not_taken_for_nothing(hermes: Any, scripted: Any, output: Any) -> None:
    @tool(name="action")
    async def action() -> str:
        """Do it."""
        return output  # type: ignore[no-any-return]

    result, named, label = await called(hermes, scripted, action)
    assert result.failed
    assert "action failed: TypeError" in result.parts[0].text
    assert named == [label]


@pytest.mark.parametrize("whose", ["own", "tool/other", ""])
async def test_its_own_plugins_fault_is_named_and_no_other(hermes: Any, scripted: Any, whose: str) -> None:
    @tool(name="action")
    async def action() -> str:
        """Do it."""
        if whose:
            raise PluginError(label if whose == "own" else whose, "its tables cannot be migrated")
        raise ToolError("There is no such card.")

    label = "tool/cards"
    result, named, _ = await called(hermes, scripted, action)
    assert result.failed
    assert ("its tables cannot be migrated" in result.parts[0].text) == bool(whose)
    assert named == ([label] if whose == "own" else [])
