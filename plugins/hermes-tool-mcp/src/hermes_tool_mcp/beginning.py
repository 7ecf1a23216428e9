"""The begin of a conversation: servers that nobody asked yet are asked what they have, for a moment."""

import asyncio
from collections.abc import Coroutine
from functools import partial
from typing import Any

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError, ToolError
from hermes_core.types import Session
from hermes_tool_mcp.config import ServerSettings
from hermes_tool_mcp.given import given_to, hidden
from hermes_tool_mcp.known import closed_to, lists_of, servers_of, settings_of

__all__ = ["asked_for_the_first_time", "let_go"]

PATIENCE = 1.5  # seconds that a conversation waits; what comes later is there from the next turn on
_AGAIN, _LONGEST = 1.0, 300.0  # seconds after which one is asked again that was not there, at first and at last
_FOR_ITS_OWN = 10.0  # seconds that it waits for servers which it alone is given


async def asked_for_the_first_time(ctx: PluginContext, session: Session) -> None:
    """Ask servers whose list is not known. What does not come in time comes later."""
    ctx.state.setdefault("open", set()).add(session.id)
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
            begun.append(_begun(asking, name, _asked_at_first(ctx, name, one)))
    if begun:
        await asyncio.wait(begun, timeout=PATIENCE)


def _begun(asking: dict[str, Any], key: str, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
    asking[key] = task = asyncio.ensure_future(work)
    task.add_done_callback(partial(_forget, asking, key))
    return task


def _forget(asking: dict[str, Any], name: str, task: object) -> None:
    if asking.get(name) is task:
        del asking[name]


async def _asked_at_first(ctx: PluginContext, name: str, server: ServerSettings) -> None:
    """Ask a server what it has. One that is not there is asked again later, which no conversation waits for."""
    asking, key = ctx.state["asking"], f"again:{name}"
    if not await _asked(ctx, name, server, f"beginning {name}") and key not in asking:
        _begun(asking, key, _asked_again(ctx, name, server, key))


async def _asked_again(ctx: PluginContext, name: str, server: ServerSettings, holder: str) -> None:
    """Ask it, after pauses that grow, until somebody knows what it has or it is set otherwise."""
    pause = _AGAIN
    while True:
        await asyncio.sleep(pause)
        if settings_of(ctx, name) != server or lists_of(ctx).get(name, server) is not None:
            return
        if await _asked(ctx, name, server, holder, again=True):
            return
        pause = min(2 * pause, _LONGEST)


async def _asked(ctx: PluginContext, name: str, server: ServerSettings, holder: str, *, again: bool = False) -> bool:
    """Ask a server what it has, which is kept; False where it may be there later."""
    from hermes_tool_mcp.pool import pool_of

    pool = pool_of(ctx)
    try:
        await pool.hold(holder, name, server, ctx.owner).client()
    except HermesError as error:
        if not again:
            ctx.log.warning("%s", error.text)
        return isinstance(error, ToolError) and not error.retry
    finally:
        await asyncio.shield(pool.release(holder))
    return True


async def met(ctx: PluginContext, session: Session) -> None:
    """Connect to what a session was given and nobody asked yet; it holds them from now on.

    Whoever gave them opens the session for their sake, so its first words wait longer for them than for others.
    """
    lists, asking, begun = lists_of(ctx), ctx.state.setdefault("asking", {}), []
    for name, one in given_to(ctx, session.id).items():
        if settings_of(ctx, name, session.id) is one and lists.get(name, one) is None:
            key = f"{session.id} {name}"
            begun.append(_begun(asking, key, _met(ctx, session, name, one)))
    if begun:
        await asyncio.wait(begun, timeout=_FOR_ITS_OWN)


async def _met(ctx: PluginContext, session: Session, name: str, server: ServerSettings, pause: float = 0.0) -> None:
    """Connect to one, ``pause`` seconds from now; where it is not there yet, again later, as long as it is given."""
    from hermes_tool_mcp.pool import pool_of

    await asyncio.sleep(pause)
    if pause and (settings_of(ctx, name, session.id) is not server or lists_of(ctx).get(name, server) is not None):
        return
    folder = session.cwd if session.backend in ("", "local") else ""
    try:
        await pool_of(ctx).hold(session.id, name, server, session.owner, folder).client()
    except HermesError as error:
        if not pause:
            ctx.log.warning("%s", hidden(server, error.text))  # what it said last is among that
        asking, key = ctx.state["asking"], f"{session.id} {name} again"
        if not (isinstance(error, ToolError) and not error.retry) and asking.get(key) in (None, asyncio.current_task()):
            _begun(asking, key, _met(ctx, session, name, server, min(2 * pause or _AGAIN, _LONGEST)))


async def let_go(ctx: PluginContext, session: Session) -> None:
    """End what a conversation used; the last one ends what is asked still."""
    ctx.state.get("served", {}).pop(session.id, None)
    still_open = ctx.state.get("open", set())
    still_open.discard(session.id)
    if "pool" not in ctx.state:
        return
    from hermes_tool_mcp.pool import pool_of

    asking = [
        task
        for key, task in ctx.state.get("asking", {}).items()
        if (key.partition(" ")[0] == session.id if " " in key else not still_open)
    ]
    for task in asking:
        task.cancel()
    if asking:
        await asyncio.wait(asking, timeout=3.0)
    await pool_of(ctx).release(session.id)
