"""What an agent may do at most, and how a child is given no more than its parent has."""

import asyncio
import time
from collections.abc import Callable, Iterable
from functools import reduce
from math import inf

from attrs import asdict

from hermes_core.agent import usage as usages
from hermes_core.kinds import Tool
from hermes_core.types import ChildTask, Effect, TurnBounds, Usage
from hermes_core.values import frozen

__all__ = ["LEVELS", "MOST_CHILDREN", "Bounds", "Limits", "Meter", "inherit", "limits_of", "permits"]

LEVELS = 3  # of children below a root, whatever is asked for
MOST_CHILDREN = 64  # that one turn may start
# A child has no person, no memory and no calendar of its own, and nobody expects to hear from it.
_NOT_FOR_CHILDREN = {Effect.ASK, Effect.REMEMBER, Effect.SCHEDULE, Effect.CONFIGURE, Effect.SEND}


@frozen(kw_only=True)
class Limits:
    """What one turn, with all its children, may use: model calls, tokens, dollars, seconds."""

    calls: float = inf
    tokens: float = inf
    money: float = inf
    seconds: float = inf

    def within(self, other: "Limits") -> "Limits":
        """The smaller of both, each for itself."""
        mine = asdict(self)
        return Limits(**{name: min(mine[name], most) for name, most in asdict(other).items()})

    def after(self, used: Usage, seconds: float) -> "Limits":
        """What is left; never less than nothing."""
        spent = {"calls": used.calls, "tokens": used.input + used.output, "money": used.cost, "seconds": seconds}
        return Limits(**{name: max(0, most - spent[name]) for name, most in asdict(self).items()})

    @property
    def exhausted(self) -> str:
        """Which of them is nothing, in words; empty when something is left of each."""
        words = {"calls": "model calls", "tokens": "tokens", "money": "money", "seconds": "time"}
        return next((words[name] for name, left in asdict(self).items() if left <= 0), "")


@frozen(kw_only=True)
class Bounds:
    """What an agent may do at most: the rules of its policy, its tools, the levels of children below it, its limits."""

    mode: str
    deny: tuple[str, ...]
    allow: tuple[str, ...]
    tools: frozenset[str]
    levels: int
    limits: Limits


def permits(bounds: TurnBounds | None, tool: Tool) -> bool:
    """Whether a turn with these bounds may use a tool."""
    return bounds is None or not bounds.tools or bool({tool.name, tool.toolset} & set(bounds.tools))


def limits_of(bounds: TurnBounds | None) -> Limits:
    """What a turn with these bounds may use."""
    if bounds is None:
        return Limits()
    amounts = {name: getattr(bounds, name) for name in asdict(Limits())}
    return Limits(**{name: most or inf for name, most in amounts.items()})


def inherit(parent: Bounds, tools: Iterable[Tool], task: ChildTask) -> Bounds:
    """The bounds of a child: its wishes, as far as its parent's bounds reach. ``tools`` are those its parent knows."""
    levels = max(0, min(task.levels, parent.levels - 1))
    kept = _NOT_FOR_CHILDREN if levels else _NOT_FOR_CHILDREN | {Effect.DELEGATE}
    given = (
        tool.name
        for tool in tools
        if tool.name in parent.tools
        and not tool.effects & kept
        and (not task.toolsets or tool.toolset in task.toolsets)
        and tool.toolset not in task.without
    )
    asked = Limits(
        calls=task.calls or inf, tokens=task.tokens or inf, money=task.money or inf, seconds=task.seconds or inf
    )
    limits = asked.within(parent.limits)
    return Bounds(
        mode=parent.mode, deny=parent.deny, allow=parent.allow, tools=frozenset(given), levels=levels, limits=limits
    )


class Meter:
    """What a turn and the children at work for it have used, held against its limits."""

    def __init__(self, limits: Limits, workers: int, used: Callable[[], Usage]) -> None:
        """``used`` tells what the turn used, children that are booked included."""
        self._limits, self._used = limits, used
        self._began = time.monotonic()
        self.running: dict[str, Usage] = {}  # children that are not booked yet: session id -> used so far
        self.started = 0
        self.places = asyncio.Semaphore(workers)

    def take(self, children: Iterable[str]) -> Usage:
        """What children used, which is the turn's own from now on."""
        return reduce(usages.add, (self.running.pop(child) for child in children), Usage())

    @property
    def left(self) -> Limits:
        """What is left for everyone together."""
        used = reduce(usages.add, self.running.values(), self._used())
        return self._limits.after(used, time.monotonic() - self._began)
