"""The begin of a conversation: servers that nobody asked yet are asked what they have, for a moment."""

import asyncio
from functools import partial
from typing import Any

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError
from hermes_core.types import Session
from hermes_tool_mcp.config import ServerSettings
from hermes_tool_mcp.given import given_to, hidden
from hermes_tool_mcp.known import closed_to, lists_of, servers_of

__all__ = ["asked_for_the_first_time", "let_go"]

PATIENCE = 1.5  # seconds that a conversation waits; what comes later is there from the next turn on
_FOR_ITS_OWN = 10.0  # seconds that it waits for servers which it alone is given


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


def _forget(asking: dict[str, Any], name: str, task: object) -> None:
    if asking.get(name) is task:
        del asking[name]


async def _asked(ctx: PluginContext, name: str, server: ServerSettings) -> None:
    from hermes_tool_mcp.pool import pool_of

    pool, holder = pool_of(ctx), f"beginning {name}"
    try:
        await pool.hold(holder, name, server, ctx.owner).client()
    except HermesError as error:
        ctx.log.warning("%s", error.text)
    finally:
        await asyncio.shield(pool.release(holder))


async def met(ctx: PluginContext, session: Session) -> None:
    """Connect to what a session was given and nobody asked yet; it holds them from now on.

    Whoever gave them opens the session for their sake, so its first words wait longer for them than for others.
    """
    lists, asking, begun = lists_of(ctx), ctx.state.setdefault("asking", {}), []
    for name, one in given_to(ctx, session.id).items():
        if servers_of(ctx, session.id).get(name) is one and lists.get(name, one) is None:
            key = f"{session.id} {name}"
            asking[key] = task = asyncio.ensure_future(_met(ctx, session, name, one))
            task.add_done_callback(partial(_forget, asking, key))
            begun.append(task)
    if begun:
        await asyncio.wait(begun, timeout=_FOR_ITS_OWN)


async def _met(ctx: PluginContext, session: Session, name: str, server: ServerSettings) -> None:
    from hermes_tool_mcp.pool import pool_of

    folder = session.cwd if session.backend in ("", "local") else ""
    try:
        await pool_of(ctx).hold(session.id, name, server, session.owner, folder).client()
    except HermesError as error:
        ctx.log.warning("%s", hidden(server, error.text))  # what it said last is among that


async def let_go(ctx: PluginContext, session: Session) -> None:
    """End what a conversation used; the last one ends what is asked still."""
    ctx.state.get("served", {}).pop(session.id, None)
    if "pool" not in ctx.state:
        return
    from hermes_tool_mcp.pool import pool_of

    asking = [task for key, task in ctx.state.get("asking", {}).items() if key.partition(" ")[0] in (key, session.id)]
    for task in asking:
        task.cancel()
    if asking:
        await asyncio.wait(asking, timeout=3.0)
    await pool_of(ctx).release(session.id)
