"""Whether a task may be begun anew after an attempt broke off: nothing is done twice without a person's yes."""

from typing import TYPE_CHECKING

from hermes_core.errors import StoreError, UserError
from hermes_core.types import Effect, Principal
from hermes_tool_kanban.values import Run, Task

if TYPE_CHECKING:
    from hermes_core.context import PluginContext

__all__ = ["BROKEN", "acted", "asks"]

BROKEN = ("crashed", "failed", "stale", "timed_out", "violation")  # ends of an attempt that nobody chose
# What another attempt does once more without harm: to look, and to write into the folder of the task.
_HARMLESS = frozenset({Effect.READ_FILES, Effect.WRITE_FILES, Effect.NETWORK, Effect.RECALL, Effect.ASK})
_MOST = 500  # calls that are looked at


async def asks(ctx: "PluginContext", task: Task, run: Run, outcome: str) -> bool:
    """Tell whether a person is asked before another attempt. ``run`` is the one that broke off."""
    again = task.options.again
    if again == "always" or run.role == "review" or not run.session:
        return False
    return again == "once" or (bool(run.taken or outcome == "crashed") and await acted(ctx, run))


async def acted(ctx: "PluginContext", run: Run) -> bool:
    """Tell whether a call of an attempt may have done something outside of its folder. What is not known may have."""
    owner = Principal(profile=ctx.owner.profile, person=run.person)
    try:
        calls = await ctx.sessions.tool_history(owner, run.session, limit=_MOST)
    except StoreError:
        raise
    except UserError:  # it was deleted
        return True
    names = {one.name for one in calls if one.outcome not in ("pending", "refused")}
    names = {one for one in names if not one.startswith("kanban_")}  # these know their claim
    known = {one.name: one.effects for one in await ctx.plugins.tools()} if names else {}
    return len(calls) >= _MOST or any(not known.get(one, {Effect.EXECUTE}) <= _HARMLESS for one in names)
