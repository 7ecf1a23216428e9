"""A child agent: a turn that works for a call, from its task to what it came to."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

from attrs import field

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError, ToolError
from hermes_core.kinds import ToolContext
from hermes_core.types import (
    Called,
    Effect,
    Ended,
    Event,
    Failed,
    Returned,
    Started,
    Text,
    ToolCall,
    TurnBounds,
    TurnOrder,
    Usage,
)
from hermes_core.values import define, frozen

Status: TypeAlias = Literal["done", "failed", "interrupted", "timeout", "budget", "refused"]

# A child has no person, no memory and no calendar of its own, and nobody expects to hear from it.
NEVER = (Effect.ASK, Effect.REMEMBER, Effect.SCHEDULE, Effect.CONFIGURE, Effect.SEND)
SYSTEM = (
    "Another agent handed you this one task, and reads your last message as the result; nobody else does. "
    "Say what you found or did, with names and paths; it has not seen what you saw."
)
_STEP = 200  # characters of a step that are shown
_USED_UP = {"budget_reached", "bound_reached"}  # kinds of failures


@frozen(kw_only=True)
class ChildTask:
    """Work for a child. It is never given more than its parent has; empty and zero mean as much as that.

    ``number`` tells the children of one call apart. ``model`` is ``[provider:]model``; ``without`` names toolsets it
    does not get; ``levels`` is how many levels of children it may have. ``on_step`` gets the child's session id and a
    short line for each step.
    """

    goal: str
    number: int
    context: str = ""
    toolsets: Sequence[str] = ()
    without: Sequence[str] = ()
    model: str = ""
    effort: str = ""
    calls: int = 0
    tokens: int = 0
    money: float = 0.0
    seconds: float = 0.0
    levels: int = 0
    on_step: Callable[[str, str], None] = lambda _session, _text: None


@frozen(kw_only=True)
class Result:
    """What a child came to. ``error`` says what went wrong; ``trace`` is its tool calls, ``name: outcome``, in order.

    ``done``: it answered. ``failed``: its turn ended with an error. ``interrupted``: somebody stopped it. ``timeout``
    and ``budget``: its limits were reached. ``refused``: it was not started.
    """

    status: Status
    answer: str = ""
    session_id: str = ""
    error: str = ""
    model: str = ""
    usage: Usage = field(factory=Usage)
    seconds: float = 0.0
    trace: Sequence[str] = ()


async def work(ctx: PluginContext, call: ToolContext, task: ChildTask) -> Result:
    """Have a child do it, and wait for what comes of it; cancelling ends it. Raises ToolError when the tool may not.

    Whatever happens to the child is a result. The same call, run again after a death, finds the child it had.
    """
    if unknown := set(task.toolsets) - (known := set(call.offer().toolsets.values())):
        there = ", ".join(sorted(known))
        return Result(status="refused", error=f"There is no toolset {min(unknown)!r} here; there is: {there}.")
    began, child = time.monotonic(), _Child(task)
    text = f"{task.goal}\n\nWhat you should know:\n{task.context}" if task.context else task.goal
    turn = ctx.turns.run(text, order=_order(task), call=call)
    try:
        async with asyncio.timeout(task.seconds or None), contextlib.aclosing(turn) as events:
            async for event in events:
                child.hear(event)
    except TimeoutError:
        child.status, child.error = "timeout", f"Its {task.seconds:g} seconds were up."
    except ToolError:
        raise
    except HermesError as error:
        child.status, child.error = "failed" if child.session_id else "refused", error.text
    if not child.session_id:
        return Result(status=child.status, error=child.error)
    past = await ctx.sessions.tool_history(call.session.owner, child.session_id, limit=1_000)
    return Result(
        status=child.status,
        answer=child.answer,
        session_id=child.session_id,
        error=child.error,
        model=child.model,
        usage=child.usage,
        seconds=round(time.monotonic() - began, 3),
        trace=tuple(f"{one.name}: {one.outcome}" for one in reversed(past)),
    )


def _order(task: ChildTask) -> TurnOrder:
    bounds = TurnBounds(
        tools=tuple(task.toolsets) or None,
        without=tuple(task.without),
        never=NEVER,
        calls=task.calls,
        tokens=task.tokens,
        money=task.money,
        levels=task.levels,
    )
    return TurnOrder(event=str(task.number), system=SYSTEM, model=task.model, effort=task.effort, bounds=bounds)


@define
class _Child:
    """What is known of a child so far."""

    task: ChildTask
    status: Status = "failed"
    error: str = ""
    session_id: str = ""
    model: str = ""
    answer: str = ""
    usage: Usage = field(factory=Usage)

    def hear(self, event: Event) -> None:
        """Take an event in."""
        if line := step_of(event):
            self.task.on_step(self.session_id, line)
        elif isinstance(event, Started):
            self.session_id, self.model = event.session_id, event.model
        elif isinstance(event, Failed):
            self.status, self.error = "budget" if event.kind in _USED_UP else "failed", event.text
        elif isinstance(event, Ended):
            self.answer, self.usage = event.answer, event.usage
            if event.reason == "done":
                self.status = "done"
            elif event.reason == "interrupted":
                self.status, self.error = "interrupted", self.error or "It was stopped."


def step_of(event: Event) -> str:
    """Say in a line what a child does, where an event is a step of it; else nothing."""
    if isinstance(event, Called):
        text = f"{event.call.name}: {_subject(event.call)}"
    elif isinstance(event, Returned) and event.result.failed:
        said = "".join(part.text for part in event.result.parts if isinstance(part, Text))
        text = f"{event.call.name} failed: {said}"
    else:
        return ""
    return "".join(c for c in " ".join(text[:500].split()) if c.isprintable())[:_STEP]


def _subject(call: ToolCall) -> str:
    """What a call is about: the argument that says so, or all of them."""
    for name in ("command", "path", "url", "query"):
        if isinstance(value := call.arguments.get(name), str):
            return value
    return ", ".join(f"{name}={value}" for name, value in call.arguments.items())
