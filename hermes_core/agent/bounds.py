"""What a turn may do at most, and how one that works for another is given no more than that one has."""

import asyncio
import time
from collections.abc import Callable, Iterable
from functools import reduce
from math import inf
from typing import Any

from attrs import asdict, evolve

from hermes_core.agent import usage as usages
from hermes_core.errors import BoundReached, UserError
from hermes_core.kinds import Tool
from hermes_core.types import Effect, TurnBounds, Usage
from hermes_core.values import frozen

__all__ = ["LEVELS", "Limits", "Meter", "levels_below", "limits_of", "narrowed", "permits"]

LEVELS = 3  # of turns that work for others, whatever is asked for
_MODES = ("ask", "smart", "off")  # strictest first


@frozen(kw_only=True)
class Limits:
    """What one turn, with all that work for it, may use: model calls, tokens, dollars, seconds."""

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


def permits(bounds: TurnBounds | None, tool: Tool) -> bool:
    """Whether a turn with these bounds may use a tool."""
    if bounds is None:
        return True
    names = {tool.name, tool.toolset, f"{tool.toolset}/{tool.name}"}
    named = bounds.tools is None or not names.isdisjoint(bounds.tools)
    below = bounds.levels != 0 or Effect.DELEGATE not in tool.effects
    return named and below and names.isdisjoint(bounds.without) and tool.effects.isdisjoint(bounds.never)


def limits_of(bounds: TurnBounds | None) -> Limits:
    """What a turn with these bounds may use."""
    if bounds is None:
        return Limits()
    amounts = {name: getattr(bounds, name) for name in asdict(Limits())}
    return Limits(**{name: most or inf for name, most in amounts.items()})


def levels_below(bounds: TurnBounds | None) -> int:
    """How many levels of turns may work for a turn with these bounds."""
    return LEVELS if bounds is None or bounds.levels is None else max(0, min(bounds.levels, LEVELS))


def narrowed(asked: TurnBounds, own: TurnBounds | None, tools: Iterable[Tool], left: Limits) -> TurnBounds:
    """The bounds of a turn that works for another: what is ``asked``, as far as that other one's reach.

    ``own`` are the other one's bounds, ``tools`` those it can use, ``left`` what it may still use. Raises UserError
    when nothing is left, and when none may work for it.
    """
    if left.exhausted:
        raise UserError(f"No {left.exhausted} is left for it.")
    own, most = own or TurnBounds(), levels_below(own) - 1
    if most < 0:
        raise UserError("No turn may work for this one.")
    asked = evolve(asked, levels=max(0, most if asked.levels is None else min(asked.levels, most)))
    limits = limits_of(asked).within(left)
    amounts: dict[str, Any] = {name: 0 if amount == inf else amount for name, amount in asdict(limits).items()}
    return evolve(
        evolve(asked, **amounts),
        tools=tuple(sorted(f"{tool.toolset}/{tool.name}" for tool in tools if permits(asked, tool))),
        mode=min(filter(None, (asked.mode, own.mode)), key=_MODES.index, default=""),
        deny=(*own.deny, *asked.deny),
    )


class Meter:
    """What a turn and those at work for it have used, held against its limits."""

    def __init__(self, limits: Limits, workers: int, used: Callable[[], Usage], above: "Meter | None" = None) -> None:
        """``used`` tells what the turn used, with those that are booked; ``above`` is that of the turn it works for."""
        self._limits, self._used, self._above = limits, used, above
        self._began = time.monotonic()
        self.running: dict[str, Callable[[], Usage]] = {}  # not booked yet: session id -> what its turn used so far
        self.places = asyncio.Semaphore(workers)

    def take(self, sessions: Iterable[str]) -> Usage:
        """What turns used that worked for this one; it is its own from now on."""
        ended = (self.running.pop(session) for session in sessions if session in self.running)
        return reduce(usages.add, (used() for used in ended), Usage())

    @property
    def total(self) -> Usage:
        """What was used by everyone together."""
        return reduce(usages.add, (used() for used in self.running.values()), self._used())

    @property
    def left(self) -> Limits:
        """What is left for everyone together."""
        return self._limits.after(self.total, time.monotonic() - self._began)

    def check(self, *, calls: bool = True) -> None:
        """Raise BoundReached when the turn that this one works for has nothing left; ``calls``: also of model calls."""
        if self._above is None:
            return
        left = self._above.left
        if what := (left if calls else evolve(left, calls=inf)).exhausted:
            raise BoundReached(f"No {what} was left for it.")
        self._above.check(calls=calls)
