"""The children at work, as a panel of work beside the conversation shows and stops them."""

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from hermes_core.agent.arguments import parse_arguments
from hermes_core.agent.slash.jobs import JobsBeside
from hermes_core.kinds import ToolContext, tool
from hermes_core.testing import Call, FakeToolContext, FakeWorkspace
from hermes_core.types import Effect, Ended, Session
from hermes_tool_delegate.child import ChildTask, Result
from hermes_tool_delegate.config import Config
from hermes_tool_delegate.jobs import Children
from hermes_tool_delegate.roster import Roster
from hermes_tool_delegate.tool import delegate_tool

ME = Session(id="s", origin="cli")


class Gate:
    """Children that tell two steps and then wait until it is opened."""

    def __init__(self) -> None:
        self.open, self.inside = asyncio.Event(), 0

    async def __call__(self, task: ChildTask) -> Result:
        self.inside += 1
        assert task.on_step
        task.on_step("child_1", "terminal: make test")
        task.on_step("child_1", "read_file:\n log.txt")
        await self.open.wait()
        return Result(status="done", answer="Done.", session_id="child_1")

    async def entered(self, count: int) -> None:
        for _ in range(200):
            await asyncio.sleep(0)
        assert self.inside == count


class Rig:
    def __init__(self, folder: Path) -> None:
        self.roster, self.gate = Roster(1, 16), Gate()
        self.tool = delegate_tool(
            Config(max_children=1), self.roster, lambda _context, task: self.gate(task), NotImplemented
        )
        self.children = Children(self.roster)
        self.context = FakeToolContext(FakeWorkspace(folder=folder), session=ME)

    def delegate(self, *goals: str) -> "asyncio.Future[Any]":
        arguments = parse_arguments(self.tool, {"tasks": [{"goal": goal} for goal in goals]})
        return asyncio.ensure_future(self.tool.run(self.context, arguments))


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(tmp_path)


async def test_children_are_shown_with_what_they_do(rig: Rig) -> None:
    call = rig.delegate("mend\nthe roof", "look")
    await rig.gate.entered(1)
    first, second = await rig.children.running(ME)
    assert (first.id, first.kind, first.title, first.state) == ("1", "agent", "mend the roof", "running")
    assert (first.last, first.session_id) == ("read_file: log.txt", "child_1")
    assert abs(first.since - time.time()) < 60
    assert (second.title, second.state, second.session_id) == ("look", "waiting", "")
    assert await rig.children.output(ME, "1") == "mend\nthe roof\n\n▸ terminal: make test\n▸ read_file: log.txt"
    assert await rig.children.output(ME, "2") == "look"
    rig.gate.open.set()
    await call
    assert await rig.children.running(ME) == []
    assert await rig.children.output(ME, "1") == ""


async def test_one_is_stopped_and_the_model_is_told(rig: Rig) -> None:
    call = rig.delegate("mend", "look")
    await rig.gate.entered(1)
    assert await rig.children.stop(ME, "1")
    assert (await rig.children.running(ME))[0].state == "stopping"
    assert not await rig.children.stop(ME, "9")
    assert not await rig.children.stop(Session(id="other", origin="cli"), "2")
    rig.gate.open.set()
    assert "The person stopped it." in str(await call)
    assert not await rig.children.stop(ME, "1")


async def test_the_jobs_of_a_kernel_are_found(hermes: Any, scripted: Any) -> None:
    seen: list[Any] = []

    @tool(name="look", effects=[Effect.READ_FILES])
    async def look(context: ToolContext) -> str:
        """Look."""
        runtime, session = hermes.runtime, context.session
        assert await JobsBeside(runtime, session).list() == []
        ((_, children),) = runtime.dispatch.contributions("register_jobs")
        roster = children._roster
        work: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        worker = roster.enter(session, "mend", work)
        seen.extend(await JobsBeside(runtime, session).list())
        seen.append(await JobsBeside(runtime, session).output("delegate:1"))
        seen.append(await JobsBeside(runtime, session).stop("delegate:1"))
        roster.leave(session, worker)
        return str(work.cancelled())

    hermes.tmp_plugin(scripted([Call("look")], "Done."))
    hermes.tmp_plugin(look)
    hermes.tmp_plugin("hermes_tool_delegate")
    events = [event async for event in hermes.turn("go")]
    assert isinstance(events[-1], Ended)
    assert [seen[0].id, seen[0].title, *seen[1:]] == ["delegate:1", "mend", "mend", True]
