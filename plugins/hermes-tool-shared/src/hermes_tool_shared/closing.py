"""What is taken back is taken from commands that run, too: a process may go on long after its conversation's step."""

import os
from weakref import WeakKeyDictionary

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError
from hermes_core.kinds import Workspace
from hermes_core.types import Folder, Principal, Session
from hermes_tool_shared.folders import folders_of, may_share

__all__ = ["close_lost", "remember"]

# What no wall can show. A place that claims it is not what anybody is to reach, so the next step makes another.
_GONE = Folder(f"{os.devnull}/taken back")


def _places(ctx: PluginContext) -> "WeakKeyDictionary[Workspace, tuple[Principal, frozenset[Folder]]]":
    found: WeakKeyDictionary[Workspace, tuple[Principal, frozenset[Folder]]]
    found = ctx.state.setdefault("places", WeakKeyDictionary())
    return found


async def remember(ctx: PluginContext, session: Session, workspace: Workspace) -> None:
    """Take note of a place whose commands reach folders of others, before one runs there."""
    if workspace.also and workspace not in _places(ctx):
        mine = await _reached(ctx, session.owner)
        _places(ctx)[workspace] = session.owner, frozenset(one for one in workspace.also if one.path in mine)


async def close_lost(ctx: PluginContext) -> None:
    """End what runs in places that show a folder which their person reaches no longer, or only to read."""
    for place, (owner, given) in list(_places(ctx).items()):
        mine = await _reached(ctx, owner)
        if all(one.path in mine and mine[one.path] >= one.writes for one in given):
            continue
        del _places(ctx)[place]
        place.also = (*(one for one in place.also if one not in given), _GONE)
        try:
            await place.close()
        except HermesError as error:
            ctx.log.warning("a place that shows a folder which was taken back could not be closed: %s", error)


async def _reached(ctx: PluginContext, owner: Principal) -> dict[str, bool]:
    """The folders of others that somebody reaches now, each with whether they may change it."""
    rights = await ctx.host.rights(owner)
    if owner != ctx.owner and may_share(rights, writes=False):
        return {}
    writes = owner == ctx.owner or not may_share(rights, writes=True)
    return {one.path: one.writes and writes for one in await folders_of(ctx, owner) if one.whose != owner.person}
