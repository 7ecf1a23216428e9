"""A child as its plugin sees it: what is ordered for it, and what becomes of its events."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

import hermes_tool_delegate
from hermes_core.context import PluginContext
from hermes_core.errors import ToolError, UserError
from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing import FakeToolContext, FakeWorkspace, plugin_context
from hermes_core.testing.fake_turns import FakeTurns
from hermes_core.types import (
    Called,
    Effect,
    Ended,
    Event,
    Failed,
    Message,
    Offer,
    Returned,
    Started,
    Text,
    ToolCall,
    ToolResult,
    Usage,
)
from hermes_tool_delegate.child import ChildTask, Result, work

MANIFEST = read_manifest(Path(str(hermes_tool_delegate.__file__)).with_name("hermes-plugin.toml"))
CALL = ToolCall(id="1", name="terminal", arguments={"command": "make\n test", "timeout": 5})
STARTED = Started(session_id="child_1", turn_id="t", provider="p", model="m")


def ended(reason: Any = "done", answer: str = "") -> Ended:
    return Ended(session_id="child_1", turn_id="t", answer=answer, reason=reason, usage=Usage(calls=2))


@pytest.fixture
def turns() -> FakeTurns:
    return FakeTurns(MANIFEST)


@pytest.fixture
def ctx(tmp_path: Path, turns: FakeTurns) -> PluginContext:
    return plugin_context(MANIFEST, tmp_path, turns=turns)


@pytest.fixture
def call(tmp_path: Path) -> FakeToolContext:
    offer = Offer(tools=(), toolsets={"read_file": "files", "terminal": "terminal"})
    return FakeToolContext(FakeWorkspace(folder=tmp_path), tools=offer)


async def test_a_task_is_ordered_within_bounds(ctx: PluginContext, turns: FakeTurns, call: FakeToolContext) -> None:
    task = ChildTask(goal="Mend it.", number=2, context="Old.", toolsets=["files"], without=["web"], calls=7, model="m")
    result = await work(ctx, call, task)
    [turn] = turns.ordered
    assert turn.text == "Mend it.\n\nWhat you should know:\nOld."
    assert turn.call is call
    assert "Another agent handed you this one task" in turn.order.system
    assert (turn.order.event, turn.order.model) == ("2", "m")
    bounds = turn.order.bounds
    assert bounds
    assert (bounds.tools, bounds.without, bounds.calls, bounds.levels) == (("files",), ("web",), 7, 0)
    assert Effect.ASK in bounds.never
    assert (result.status, result.answer, result.session_id) == ("done", turn.text, turn.session)


async def test_a_toolset_that_is_not_there_is_told(ctx: PluginContext, turns: FakeTurns, call: FakeToolContext) -> None:
    result = await work(ctx, call, ChildTask(goal="x", number=1, toolsets=["flies"]))
    assert (result.status, result.error) == (
        "refused", "There is no toolset 'flies' here; there is: files, terminal."
    )  # fmt: skip
    assert turns.ordered == []


async def test_its_steps_are_told(ctx: PluginContext, turns: FakeTurns, call: FakeToolContext) -> None:
    bad = ToolResult(call_id="1", name="terminal", parts=(Text(text="exit\n2"),), failed=True)
    turns.answers.append([STARTED, Called(call=CALL), Returned(call=CALL, result=bad, seconds=1), ended(answer="ok")])
    steps: list[Any] = []
    await work(ctx, call, ChildTask(goal="x", number=1, on_step=lambda *step: steps.append(step)))
    assert steps == [("child_1", "terminal: make test"), ("child_1", "terminal failed: exit 2")]


ENDS: list[tuple[list[Event], str, str]] = [
    ([ended(answer="ok")], "done", ""),
    ([Failed(kind="provider_error", text="It is broken."), ended("failed")], "failed", "It is broken."),
    ([Failed(kind="bound_reached", text="Used up."), ended("failed")], "budget", "Used up."),
    ([Failed(kind="budget_reached", text="Used up."), ended("failed")], "budget", "Used up."),
    ([ended("interrupted")], "interrupted", "It was stopped."),
    ([ended("failed")], "failed", ""),
]


@pytest.mark.parametrize(("events", "status", "error"), ENDS)
async def test_each_end_has_its_name(
    ctx: PluginContext, turns: FakeTurns, call: FakeToolContext, events: list[Event], status: str, error: str
) -> None:
    turns.answers.append([STARTED, *events])
    result = await work(ctx, call, ChildTask(goal="x", number=1))
    assert (result.status, result.error, result.session_id, result.model) == (status, error, "child_1", "m")
    assert result.usage.calls == 2


class Odd(FakeTurns):
    """Turns that begin, if at all, and then raise or hang."""

    begins, raises = True, None

    async def run(self, message: str | Message, **_known: Any) -> AsyncGenerator[Event, None]:
        if self.begins:
            yield STARTED
        if self.raises:
            raise self.raises
        await asyncio.Event().wait()


async def odd(tmp_path: Path, call: FakeToolContext, begins: bool, raises: Exception | None, seconds: float) -> Result:
    turns = Odd(MANIFEST)
    turns.begins, turns.raises = begins, raises  # type: ignore[assignment]
    ctx = plugin_context(MANIFEST, tmp_path, turns=turns)
    return await work(ctx, call, ChildTask(goal="x", number=1, seconds=seconds))


async def test_what_could_not_begin_is_refused_and_its_time_has_an_end(tmp_path: Path, call: FakeToolContext) -> None:
    nothing = await odd(tmp_path, call, False, UserError("No money is left for it."), 5)
    assert (nothing.status, nothing.error, nothing.session_id) == ("refused", "No money is left for it.", "")
    broken = await odd(tmp_path, call, True, UserError("It is gone."), 5)
    assert (broken.status, broken.error, broken.session_id) == ("failed", "It is gone.", "child_1")
    late = await odd(tmp_path, call, True, None, 0.05)
    assert (late.status, late.error, late.session_id) == ("timeout", "Its 0.05 seconds were up.", "child_1")
    with pytest.raises(ToolError):
        await odd(tmp_path, call, False, ToolError("It may not."), 5)
