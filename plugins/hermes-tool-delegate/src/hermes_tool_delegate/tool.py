"""The tool ``delegate``: tasks in, reports out."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Literal

from attrs import field

from hermes_core.errors import ToolError
from hermes_core.kinds import Tool, ToolContext, tool
from hermes_core.types import Effect
from hermes_core.values import frozen
from hermes_tool_delegate.config import Config

if TYPE_CHECKING:
    from typing import TypeAlias

    from hermes_tool_delegate.beside import Beside
    from hermes_tool_delegate.child import ChildTask, Result
    from hermes_tool_delegate.roster import Roster, Worker

    Work: TypeAlias = Callable[[ToolContext, ChildTask], Awaitable[Result]]  # has a child do it

MOST = 64  # children of one turn
_OBJECTS = {"type": "array", "items": {"type": "object"}}  # what each holds is said in words: it is known already
_MARGIN = 5.0  # seconds the kernel waits longer than the children, so that what they came to is told


@frozen(kw_only=True)
class Task:
    """One task."""

    goal: str
    context: str = ""
    toolsets: list[str] = field(factory=list)
    role: Literal["leaf", "orchestrator"] = "leaf"


@frozen(kw_only=True)
class Delegate:
    """What the model asks for: one task, or several in ``tasks``."""

    goal: str = ""
    context: str = field(default="")
    toolsets: list[str] = field(factory=list)
    role: Literal["leaf", "orchestrator"] = field(default="leaf", metadata={"told": None})
    tasks: list[Task] = field(
        factory=list,
        metadata={
            "told": _OBJECTS,
            "help": "several, each with goal, context, toolsets, role (orchestrator: delegates)",
        },
    )
    background: bool = field(default=False, metadata={"help": "do not wait: a later turn tells"})


def delegate_tool(config: Config, roster: "Roster", work: "Work", beside: "Callable[[], Beside]") -> Tool:
    """The tool, with the children of all sessions in one roster. ``work`` has a child do a task, ``beside`` later."""

    # An answer may repeat what the child has read, and where that came from cannot be told here: it is untrusted.
    @tool(
        name="delegate",
        toolset="delegate",
        effects={Effect.DELEGATE},
        idempotent=True,
        untrusted=True,
        touches=lambda _: (),
        seconds=config.seconds + _MARGIN,
    )
    async def run(context: ToolContext, wanted: Delegate) -> str:
        """Hand work to child agents, which know only `context`; get their reports. Tasks run side by side."""
        from hermes_tool_delegate.report import report

        if wanted.background:
            return await beside().begin(context, _tasks(wanted, config))
        until = time.monotonic() + config.seconds
        tasks = enumerate(_tasks(wanted, config), 1)
        children = [_one(context, number, task, config, roster, work, until) for number, task in tasks]
        return await report(context, await asyncio.gather(*children))

    return run


def _tasks(wanted: Delegate, config: Config) -> Sequence[Task]:
    """The tasks of a call. Raises ToolError."""
    if bool(wanted.goal.strip()) == bool(wanted.tasks):
        raise ToolError("Give either a goal, or tasks.", hint="One task: goal and context. Several: tasks.")
    tasks = wanted.tasks or [Task(goal=wanted.goal, context=wanted.context, toolsets=wanted.toolsets, role=wanted.role)]
    if len(tasks) > config.max_tasks:
        raise ToolError(f"{len(tasks)} tasks are too many for one call; {config.max_tasks} is the most.")
    if empty := [number for number, task in enumerate(tasks, 1) if not task.goal.strip()]:
        raise ToolError(f"Task {empty[0]} has no goal.")
    return tasks


async def _one(
    context: ToolContext, number: int, task: Task, config: Config, roster: "Roster", work: "Work", until: float
) -> "Result":
    """See one child through, unless a person stops it."""
    from hermes_tool_delegate.child import Result

    if not roster.begin(context.session, MOST):
        return Result(status="refused", error=f"This turn has started {MOST} children; that is the most.")
    begin: asyncio.Future[Worker] = asyncio.get_running_loop().create_future()

    async def placed() -> Result:
        worker = await begin
        leaf = task.role == "leaf" or config.max_depth == 1
        async with roster.place(worker, context.session, leaf=leaf):
            return await work(context, _child_task(context, number, task, config, worker, until))

    child = asyncio.ensure_future(placed())
    worker = roster.enter(context.session, task.goal, child)
    begin.set_result(worker)
    try:
        await asyncio.wait([child])
    except asyncio.CancelledError:
        child.cancel()
        await asyncio.wait([child])
        raise
    finally:
        roster.leave(context.session, worker)
    if child.cancelled() and worker.stopped:
        return Result(status="interrupted", error="The person stopped it.", session_id=worker.session_id)
    return child.result()


def _child_task(
    context: ToolContext, number: int, task: Task, config: Config, worker: "Worker", until: float
) -> "ChildTask":
    from hermes_tool_delegate.child import ChildTask

    def step(session_id: str, text: str) -> None:
        worker.step(session_id, text)
        context.progress(f"{worker.number} ▸ {text}\n")

    return ChildTask(
        goal=task.goal,
        number=number,
        context=task.context,
        toolsets=tuple(task.toolsets),
        without=tuple(config.blocked_toolsets),
        model=config.model,
        effort=config.effort,
        calls=config.calls,
        seconds=max(1.0, until - time.monotonic()),
        levels=config.max_depth - 1 if task.role == "orchestrator" else 0,
        on_step=step,
    )
