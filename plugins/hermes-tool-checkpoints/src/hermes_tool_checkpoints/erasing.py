"""No byte of an erased session is to stay: its snapshots go, with the files that only they hold."""

import asyncio

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.types import Session
from hermes_tool_checkpoints import late

__all__ = ["on_session_deleted"]

_SECONDS = 60.0


@hookimpl
async def on_session_deleted(ctx: PluginContext, session: Session, erased: bool) -> None:
    """Drop the snapshots of a session that is erased; those of one that is deleted bring files back as ever."""
    if not erased:
        return
    from hermes_tool_checkpoints.git import Job
    from hermes_tool_checkpoints.prune import erase

    await asyncio.to_thread(erase, late.snapshots_for(ctx).store, session.id, Job(_SECONDS))
