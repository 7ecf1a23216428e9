"""Hands tasks to child agents."""

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.types import Message, Session, Text
from hermes_tool_delegate.registering import beside_of, register_jobs, register_slash_commands, register_tools

__all__ = ["register_jobs", "register_slash_commands", "register_tools"]


@hookimpl
async def on_session_start(ctx: PluginContext, session: Session) -> None:
    """Go on with what an earlier Hermes handed to the background."""
    if not session.parent and await ctx.documents.get("background", owner=session.owner, session_id=session.id):
        await beside_of(ctx).look(session)


@hookimpl
async def on_turn_start(ctx: PluginContext, session: Session, message: Message) -> None:
    """Say to whoever watches why a turn begins that nobody asked for."""
    for part in message.parts:
        if isinstance(part, Text) and part.quotes == "child agents":
            from hermes_tool_delegate.beside import why

            ctx.tell(why(part.text))
