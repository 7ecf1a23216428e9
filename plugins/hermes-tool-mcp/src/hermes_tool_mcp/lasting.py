"""What a conversation was told of stays told: a tool that its server has no more keeps its place, and says so.

The tools that a model is told of stand at the begin of each request. One that is taken out of them would have the whole
conversation read anew.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from attrs import evolve

from hermes_core.context import PluginContext
from hermes_core.errors import ToolError
from hermes_core.kinds import Tool, ToolContext, ToolOutput
from hermes_core.types import Session

__all__ = ["lasting"]

_SESSIONS = 500  # of one kernel; of more, those that began first have what is there and no more


def lasting(ctx: PluginContext, source: str, session: Session, tools: Iterable[Tool]) -> list[Tool]:
    """Return the tools of a source for a session: those there are, and what stands for those that have gone."""
    served: dict[str, dict[str, dict[str, Tool]]] = ctx.state.setdefault("served", {})
    while session.id not in served and len(served) >= _SESSIONS:
        del served[next(iter(served))]
    mine = served.setdefault(session.id, {}).setdefault(source, {})
    there = {one.name: one for one in tools}
    gone = [one for name, one in mine.items() if name not in there]
    mine.update(there)
    return [*there.values(), *(evolve(one, run=_gone, effects=frozenset()) for one in gone)]


async def _gone(_context: ToolContext, _given: Mapping[str, Any]) -> ToolOutput:
    raise ToolError("The server does not have this tool any more.", retry=False)
