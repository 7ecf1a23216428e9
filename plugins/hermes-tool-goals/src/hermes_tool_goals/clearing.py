"""Clears what checks leave: each ran in a hidden session of its own, of no use once it stands what it found."""

import contextlib

from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName, UserError
from hermes_tool_goals.shared import goals_of

__all__ = ["clear"]


async def clear(ctx: PluginContext, goal: str = "", session: str = "") -> None:
    """Delete the sessions of checks of closed rounds; of all of a ``session`` whose goals go.

    The session goes before the row forgets it, so that whoever comes after a death finds it again.
    """
    rows = goals_of(ctx)
    for one, hidden, owner in await rows.looked(goal, session):
        try:
            with contextlib.suppress(UnknownName):  # it is gone
                await ctx.sessions.delete(owner, hidden)
        except UserError as error:  # a turn runs in it: it goes another time
            ctx.log.debug("the session %s of a check stays for now: %s", hidden, error.text)
            continue
        await rows.cleared(one)
