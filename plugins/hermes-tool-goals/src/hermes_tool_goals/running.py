"""Pursues one goal in this process until nothing of it is to be done: its turns are played here, too."""

import asyncio
import contextlib
from collections.abc import Callable

from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName
from hermes_core.types import Ended, Failed
from hermes_tool_goals.looking import owner_of
from hermes_tool_goals.shared import goals_of, pursuer_of
from hermes_tool_goals.values import Goal

__all__ = ["played"]

_LOOK = 0.2


async def played(ctx: PluginContext, goal: Goal, say: Callable[[str], object]) -> Goal | None:
    """Play its turns, and those that wait before them, until it is over or needs a person; the goal as it is then."""
    ctx.state["borrowed"] = True  # a loop does not end with this process
    rows, owner = goals_of(ctx), owner_of(goal)
    while True:
        wait = await pursuer_of(ctx).step(goal.id)
        said = False
        with contextlib.suppress(UnknownName):  # nothing was said in its session yet
            async with contextlib.aclosing(ctx.turns.resume(goal.session, owner=owner)) as events:
                async for event in events:
                    if isinstance(event, Failed):
                        say(event.text)
                    if isinstance(event, Ended):
                        said = True
                        if event.answer:
                            say(event.answer)
        if said:
            continue
        if wait is None:
            return await rows.get(goal.id)
        await asyncio.sleep(min(wait, _LOOK))
