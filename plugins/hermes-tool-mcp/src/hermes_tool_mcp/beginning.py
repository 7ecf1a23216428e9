"""The begin of a conversation: servers that nobody asked yet are asked what they have, for a moment."""

import asyncio
from functools import partial
from typing import Any

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError
from hermes_core.types import Session
from hermes_tool_mcp.config import ServerSettings
from hermes_tool_mcp.known import closed_to, lists_of, servers_of

__all__ = ["asked_for_the_first_time", "let_go"]

PATIENCE = 1.5  # seconds that a conversation waits; what comes later is there from the next turn on


async def asked_for_the_first_time(ctx: PluginContext, session: Session) -> None:
    """Ask servers whose list is not known. What does not come in time comes later."""
    lists = lists_of(ctx)
    strange = [
        (name, one)
        for name, one in servers_of(ctx).items()
        if lists.get(name, one) is None and not closed_to(ctx, one, session)
    ]
    asking = ctx.state.setdefault("asking", {})
    begun = [asking[name] for name, _ in strange if name in asking]
    for name, one in strange:
        if name not in asking:
            task = asyncio.ensure_future(_asked(ctx, name, one))
            asking[name] = task
            task.add_done_callback(partial(_forget, asking, name))
            begun.append(task)
    if begun:
        await asyncio.wait(begun, timeout=PATIENCE)


def _forget(asking: dict[str, Any], name: str, _task: object) -> None:
    asking.pop(name, None)


async def _asked(ctx: PluginContext, name: str, server: ServerSettings) -> None:
    from hermes_tool_mcp.pool import pool_of

    pool, holder = pool_of(ctx), f"beginning {name}"
    try:
        await pool.hold(holder, name, server, ctx.owner).client()
    except HermesError as error:
        ctx.log.warning("%s", error.text)
    finally:
        await asyncio.shield(pool.release(holder))


async def let_go(ctx: PluginContext, session: Session) -> None:
    """End what a conversation used; the last one ends what is asked still."""
    ctx.state.get("served", {}).pop(session.id, None)
    if "pool" not in ctx.state:
        return
    from hermes_tool_mcp.pool import pool_of

    asking = list(ctx.state.get("asking", {}).values())
    for task in asking:
        task.cancel()
    if asking:
        await asyncio.wait(asking, timeout=3.0)
    await pool_of(ctx).release(session.id)
