"""Learns lessons from what became of turns, tells them where they are called for, and lets go of those that harm."""

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.types import Message, Request, Session, SessionEnd, TurnEnd
from hermes_tool_lessons import shared
from hermes_tool_lessons.registering import (
    register_cli_commands,
    register_migrations,
    register_services,
    register_slash_commands,
)

__all__ = ["register_cli_commands", "register_migrations", "register_services", "register_slash_commands"]


@hookimpl
async def on_session_start(ctx: PluginContext, session: Session) -> None:
    """Get ready for the first turn."""
    if shared.is_on(ctx):
        shared.warm(ctx)


@hookimpl
async def on_turn_start(ctx: PluginContext, session: Session, message: Message) -> None:
    """Judge the turn before by what its person says now."""
    if shared.is_on(ctx) and shared.hearing().learns(session):
        await shared.hearing().begun(ctx, session, message)


@hookimpl
async def pre_llm_call(ctx: PluginContext, session: Session, request: Request) -> Request | None:
    """Tell a turn the lessons that its message calls for."""
    if not (shared.is_on(ctx) and shared.hearing().learns(session)):
        return None
    found: Request | None = await shared.hearing().told(ctx, session, request)
    return found


@hookimpl
async def on_turn_end(ctx: PluginContext, session: Session, end: TurnEnd) -> None:
    """Write down what a turn did; of one of a guest's among others, that there was one."""
    if shared.is_on(ctx) and shared.hearing().learns(session):
        await shared.hearing().ended(ctx, session, end)
    elif shared.is_on(ctx) and not session.parent and session.asker != session.owner:
        await shared.hearing().visited(ctx, session)


@hookimpl
async def on_session_end(ctx: PluginContext, session: Session, end: SessionEnd) -> None:
    """Review nothing more here once the last conversation is closed."""
    if "reviewer" in ctx.state:
        await shared.reviewer_of(ctx).closed(session.id)


@hookimpl
async def on_session_deleted(ctx: PluginContext, session: Session, erased: bool) -> None:
    """Forget what happened in a session that is gone; where no byte is to stay, what was learned in it too."""
    if shared.is_used(ctx):
        await shared.hearing().gone(ctx, session, erased=erased)
