"""The two tools of a memory: one that finds, and one that keeps and forgets."""

from collections.abc import Sequence
from typing import Literal

from attrs import field

from hermes_core.errors import ToolError
from hermes_core.kinds import Memory, Tool, ToolContext, tool
from hermes_core.types import Effect, Source
from hermes_core.values import frozen

__all__ = ["memory_tools"]

_MOST = 20


@frozen(kw_only=True)
class Sought:
    """What to look for."""

    query: str = ""
    limit: int = 8


@frozen(kw_only=True)
class Change:
    """What to keep or to forget."""

    action: Literal["add", "forget"] = "add"
    text: str = ""
    id: str = field(default="", metadata={"help": "what to forget"})


def memory_tools(memory: Memory, *effects: Effect) -> Sequence[Tool]:
    """``NAME_search`` and ``NAME_memory`` over a memory: each person's own. ``effects`` are what else both do."""
    return [_search(memory, effects), _change(memory, effects)]


def _search(memory: Memory, effects: Sequence[Effect]) -> Tool:
    @tool(
        name=f"{memory.name}_search",
        toolset="memory",
        effects=[Effect.RECALL, *effects],
        idempotent=True,
        touches=lambda _: (),
    )
    async def run(context: ToolContext, wanted: Sought) -> str:
        """Find what is remembered of the person, by meaning; what changed: newest first."""
        limit = min(max(wanted.limit, 1), _MOST)
        found = await memory.search(context.session.owner, wanted.query, limit)
        if any(not one.source.trusted for one in found):
            context.from_outside()
        marks = {True: "", False: "(from outside, unverified) "}
        return "\n".join(f"{one.id}: {marks[one.source.trusted]}{one.text}" for one in found) or "Nothing is known."

    return run


def _change(memory: Memory, effects: Sequence[Effect]) -> Tool:
    @tool(
        name=f"{memory.name}_memory",
        toolset="memory",
        effects=[Effect.REMEMBER, *effects],
        touches=lambda _: (f"memory:{memory.name}",),
    )
    async def run(context: ToolContext, change: Change) -> str:
        """Keep a lasting fact, a sentence that stands alone; or forget one by id."""
        session = context.session
        if change.action == "forget":
            if not change.id.strip():
                raise ToolError("forget needs the id that a search gave.")
            await memory.forget(session.owner, change.id.strip())
            return "Forgotten."
        source = Source(by="model", session_id=session.id, trusted=not session.untrusted)
        memo = await memory.add(session.owner, change.text, source)
        return f"Kept as {memo.id}."

    return run
