"""Tasks of an earlier life of this process: each is a turn, which was written down before it was handed out."""

from collections.abc import Sequence
from contextlib import aclosing
from datetime import UTC, datetime
from functools import partial
from typing import Any

from hermes_core.context import PluginContext
from hermes_core.types import Message, PastTurn, Principal, ToolResult
from hermes_platform_mcp_serve.failing import failed, told
from hermes_platform_mcp_serve.ongoing import Ongoing
from hermes_platform_mcp_serve.tasks import Tasks

__all__ = ["dropped", "event_of", "recovered"]


def event_of(task: str) -> str:
    """Return the name by which the turn of a task is found."""
    return f"mcp task {task}"


async def recovered(ctx: PluginContext, tasks: Tasks, owner: Principal, name: str) -> dict[str, Any] | None:
    """Return what became of a task that this process does not know; None for what is none.

    One that a death cut off is played to its end here, and asked after as before.
    """
    past = await ctx.turns.past(event_of(name), owner=owner)
    if past is None:
        return None
    if past.state in ("cut", "waiting"):
        begun = tasks.take(Ongoing(owner, partial(_resumed, ctx, owner, past), name=name))
        return {**begun, "resultType": "complete"}
    status = {"open": "working", "interrupted": "cancelled"}.get(past.state, "completed")
    found = {
        "taskId": name,
        "status": status,
        "createdAt": _instant(past.started),
        "lastUpdatedAt": _instant(past.ended or past.started),
        "ttlMs": None,
        "pollIntervalMs": 1000,
    }
    if status == "completed":
        result = await _result(ctx, owner, past)
        found["result"] = result.model_dump(by_alias=True, mode="json", exclude_none=True)
    return found


async def dropped(ctx: PluginContext, owner: Principal, name: str) -> bool:
    """End a task that this process does not know, and whether there is one; what a death cut off does not go on."""
    past = await ctx.turns.past(event_of(name), owner=owner)
    if past is not None and past.state in ("cut", "waiting"):
        await ctx.turns.drop(past.session_id, owner=owner)
    elif past is not None and past.state == "open":
        await ctx.turns.interrupt(past.session_id, owner=owner, elsewhere=True)
    return past is not None


def _instant(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


async def _resumed(ctx: PluginContext, owner: Principal, past: PastTurn, _work: Ongoing) -> Any:
    async def played() -> Any:
        async with aclosing(ctx.turns.resume(past.session_id, owner=owner)) as turn:
            async for _ in turn:
                pass
        return await _result(ctx, owner, past)

    return await told(ctx, "a task that was cut off", played())


async def _result(ctx: PluginContext, owner: Principal, past: PastTurn) -> Any:
    from hermes_platform_mcp_serve.chosen import answer_of

    found = _results(await ctx.sessions.past(owner, past.session_id))
    return answer_of(ctx, found[0]) if found else failed(ctx.masks.text(past.error or "The call was not made."))


def _results(messages: Sequence[Message]) -> list[ToolResult]:
    return [part for message in messages for part in message.parts if isinstance(part, ToolResult)]
