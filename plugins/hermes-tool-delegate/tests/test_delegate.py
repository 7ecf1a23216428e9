"""Delegate: what a child is asked for, what its parent reads, who is at work."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from hermes_core.agent.arguments import parse_arguments, tool_spec
from hermes_core.errors import ToolError
from hermes_core.kinds import ToolContext
from hermes_core.testing import FakeToolContext, FakeWorkspace
from hermes_core.types import Effect, Principal, Session, Usage
from hermes_tool_delegate.child import ChildTask, Result
from hermes_tool_delegate.config import Config
from hermes_tool_delegate.roster import Roster, agents_command
from hermes_tool_delegate.tool import delegate_tool

ME = Session(id="s", origin="cli")


class Rig:
    """The tool and the command of one kernel."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.config, self.folder = Config(**settings), folder
        self.roster = Roster(self.config.max_children, self.config.person_children)
        self.tool, self.command = (
            delegate_tool(self.config, self.roster, self.play, NotImplemented),
            agents_command(self.roster),
        )
        self.tasks: list[ChildTask] = []
        self.context = self.of(ME)

    def of(self, session: Session, *children: Any) -> FakeToolContext:
        """A context in which these are what children come to, or what plays them."""
        self.children = list(children)
        return FakeToolContext(FakeWorkspace(folder=self.folder), session=session)

    async def play(self, _context: ToolContext, task: ChildTask) -> Result:
        self.tasks.append(task)
        if not self.children:
            return Result(status="done", answer=f"Done: {task.goal}", session_id=f"child_{len(self.tasks)}")
        child = self.children.pop(0)
        result: Result = await child(task) if callable(child) else child
        return result

    async def delegate(self, context: FakeToolContext | None = None, **arguments: Any) -> Any:
        return json.loads(str(await self.tool.run(context or self.context, parse_arguments(self.tool, arguments))))


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(tmp_path)


async def test_one_task_is_one_report(rig: Rig) -> None:
    used = Usage(input=1200, output=80, calls=3)
    result = Result(
        status="done", answer="42 words.", session_id="child_1", model="m", usage=used, seconds=2.345,
        trace=("terminal: ok", "terminal: failed", "read_file: ok", "terminal: ok"),
    )  # fmt: skip
    assert await rig.delegate(rig.of(ME, result), goal="Count") == {
        "task": 1,
        "status": "done",
        "answer": "42 words.",
        "tools": "terminal ×3 (1 failed), read_file",
        "calls": 3,
        "tokens": {"input": 1200, "output": 80},
        "seconds": 2.3,
        "model": "m",
        "session": "child_1",
    }


async def test_several_tasks_are_reported_in_their_order(rig: Rig) -> None:
    context = rig.of(ME, Result(status="refused", error="No money is left for a child."))
    one, two = await rig.delegate(context, tasks=[{"goal": "a"}, {"goal": "b", "context": "c"}])
    assert one == {"task": 1, "status": "refused", "error": "No money is left for a child."}
    assert (two["task"], two["answer"]) == (2, "Done: b")
    assert [(t.goal, t.context) for t in rig.tasks] == [("a", ""), ("b", "c")]


async def test_the_settings_become_tasks(tmp_path: Path) -> None:
    rig = Rig(tmp_path, max_depth=2, seconds=60.0, calls=7, model="m", effort="low", blocked_toolsets=["browser"])
    await rig.delegate(goal="a", toolsets=["files"])
    await rig.delegate(goal="b", role="orchestrator")
    leaf, orchestrator = rig.tasks
    assert (leaf.toolsets, leaf.without, leaf.calls, leaf.model, leaf.effort) == (
        ("files",), ("browser",), 7, "m", "low"
    )  # fmt: skip
    assert 0 < leaf.seconds <= 60
    assert (leaf.levels, orchestrator.levels) == (0, 1)
    assert rig.tool.seconds > 60


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"goal": " "},
        {"goal": "a", "tasks": [{"goal": "b"}]},
        {"tasks": [{"goal": ""}]},
        {"tasks": [{"goal": "x"}] * 9},
    ],
)
async def test_a_call_that_cannot_be_meant_is_refused(rig: Rig, arguments: dict[str, Any]) -> None:
    with pytest.raises(ToolError):
        await rig.delegate(**arguments)
    assert not rig.tasks


async def test_a_long_answer_is_kept_in_a_file(rig: Rig) -> None:
    answer = "a" * 30_000 + "b" * 30_000
    long = Result(status="done", answer=answer, session_id="child_1")
    context = rig.of(ME, long, long, long)
    rows = await rig.delegate(context, tasks=[{"goal": str(n)} for n in range(3)])
    assert sum(len(row["answer"]) for row in rows) < 45_000
    assert all(row["answer"].startswith("aaa") and row["answer"].endswith("bbb") for row in rows)
    assert [data.decode() for data in context.spilled.values()] == [answer] * 3


class Gate:
    """Children that wait until they are let go, and count how many do."""

    def __init__(self) -> None:
        self.open, self.inside, self.most = asyncio.Event(), 0, 0

    async def __call__(self, task: ChildTask) -> Result:
        self.inside += 1
        self.most = max(self.most, self.inside)
        assert task.on_step
        task.on_step(f"child_{task.goal}", "terminal: make test")
        try:
            await self.open.wait()
        finally:
            self.inside -= 1
        return Result(status="done", answer=task.goal, session_id=f"child_{task.goal}")


async def settled(gate: Gate, inside: int) -> None:
    for _ in range(100):
        await asyncio.sleep(0)
    assert gate.inside == inside


async def test_only_so_many_work_side_by_side_in_a_session(rig: Rig) -> None:
    gate = Gate()
    context = rig.of(ME, *[gate] * 8)
    calls = [asyncio.ensure_future(rig.delegate(context, tasks=[{"goal": str(n)} for n in range(4)])) for _ in "ab"]
    await settled(gate, 3)
    gate.open.set()
    rows = [row for call in calls for row in await call]
    assert [row["answer"] for row in rows] == ["0", "1", "2", "3"] * 2
    assert gate.most == 3
    assert rig.roster.at_work(ME) == []


async def test_only_so_many_work_side_by_side_for_a_person_and_others_do_not_wait(tmp_path: Path) -> None:
    gate, rig = Gate(), Rig(tmp_path, max_depth=2, person_children=4)
    here, there = rig.of(ME), rig.of(Session(id="t", origin="cli"))
    other = rig.of(Session(id="o", origin="cli", owner=Principal(person="anna")))
    rig.children = [gate] * 9
    tasks = [{"goal": str(n)} for n in range(3)]
    calls = [asyncio.ensure_future(rig.delegate(context, tasks=tasks)) for context in (here, there)]
    await settled(gate, 4)
    calls.append(asyncio.ensure_future(rig.delegate(other, tasks=tasks[:2])))
    await settled(gate, 6)
    calls.append(
        asyncio.ensure_future(rig.delegate(rig.of(Session(id="u", origin="cli"), gate), goal="x", role="orchestrator"))
    )
    await settled(gate, 7)  # who waits for others takes no place of theirs
    rig.children = [gate] * 9
    gate.open.set()
    await asyncio.gather(*calls)
    assert gate.most == 7


async def test_the_person_sees_who_is_at_work_and_stops_one(rig: Rig) -> None:
    gate = Gate()
    context = rig.of(ME, *[gate] * 4)
    call = asyncio.ensure_future(rig.delegate(context, tasks=[{"goal": name} for name in ("mend", "look", "c", "d")]))
    await settled(gate, 3)
    assert (await rig.command.run(ME, "")).splitlines() == [
        "    1  0:00  mend  ▸ terminal: make test",
        "    2  0:00  look  ▸ terminal: make test",
        "    3  0:00  c  ▸ terminal: make test",
        "    4  0:00  d  ▸ waits for a place",
    ]
    assert context.shown[:2] == ["1 ▸ terminal: make test\n", "2 ▸ terminal: make test\n"]
    assert await rig.command.run(ME, "stop 2") == "Stopped: 2."
    assert await rig.command.run(ME, "stop 9") == "No child agent here has the number '9'."
    assert await rig.command.run(ME, "halt") == "Write /agents, /agents stop NUMBER or /agents stop all."
    gate.open.set()
    rows = await call
    assert [row["status"] for row in rows] == ["done", "interrupted", "done", "done"]
    assert (rows[1]["error"], rows[1]["session"]) == ("The person stopped it.", "child_look")
    assert await rig.command.run(ME, "") == "No child agent is at work here."


async def test_nobody_sees_or_stops_the_children_of_another(rig: Rig) -> None:
    gate, other = Gate(), Session(id="t", origin="cli")
    call = asyncio.ensure_future(rig.delegate(rig.of(ME, gate), goal="mine"))
    await settled(gate, 1)
    assert await rig.command.run(other, "") == "No child agent is at work here."
    assert await rig.command.run(other, "stop all") == "No child agent here has the number 'all'."
    gate.open.set()
    assert (await call)["status"] == "done"


async def test_one_turn_starts_so_many_children_and_no_more(rig: Rig) -> None:
    for _ in range(8):
        assert all(row["status"] == "done" for row in await rig.delegate(tasks=[{"goal": "a"}] * 8))
    assert (await rig.delegate(goal="one more"))["error"] == "This turn has started 64 children; that is the most."
    other = rig.of(evolve(ME, turn="the next one"))
    assert (await rig.delegate(other, goal="a"))["status"] == "done"


async def test_a_cancelled_call_ends_its_children(rig: Rig) -> None:
    gate = Gate()
    call = asyncio.ensure_future(rig.delegate(rig.of(ME, gate, gate), tasks=[{"goal": "a"}, {"goal": "b"}]))
    await settled(gate, 2)
    call.cancel()
    await asyncio.wait([call])
    assert call.cancelled()
    assert gate.inside == 0
    assert rig.roster.at_work(ME) == []


def test_the_tool_costs_little_and_says_what_it_is(rig: Rig) -> None:
    spec = tool_spec(rig.tool)
    text = {"name": spec.name, "description": spec.description, "parameters": spec.schema}
    assert len(json.dumps(text, separators=(",", ":"))) <= 900
    assert rig.tool.idempotent
    assert rig.tool.untrusted
    assert rig.tool.effects == {Effect.DELEGATE}
