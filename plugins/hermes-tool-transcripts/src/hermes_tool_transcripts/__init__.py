"""Keeps each conversation as a file of JSON lines too, for people and their tools."""

from typing import TYPE_CHECKING, cast

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.types import Session

if TYPE_CHECKING:
    from hermes_tool_transcripts.transcripts import Transcripts


def _transcripts(ctx: PluginContext) -> "Transcripts":
    if "transcripts" not in ctx.state:
        from hermes_tool_transcripts.transcripts import Transcripts

        ctx.state["transcripts"] = Transcripts(ctx.paths.home / "sessions", ctx.masks.text)
    return cast("Transcripts", ctx.state["transcripts"])


@hookimpl
async def on_turn_end(ctx: PluginContext, session: Session) -> None:
    """Write what the conversation has and its file has not."""
    await _transcripts(ctx).follow(ctx.sessions, session)


@hookimpl
async def on_session_deleted(ctx: PluginContext, session: Session) -> None:
    """Remove its file."""
    await _transcripts(ctx).forget(session)
