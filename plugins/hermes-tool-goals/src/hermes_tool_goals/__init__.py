"""Pursues goals: turns follow one another until checks that run, or a judge, say that it is done."""

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.types import Message, Request, Session, SessionEnd, TurnEnd
from hermes_tool_goals import shared
from hermes_tool_goals.registering import (
    register_cli_commands,
    register_jobs,
    register_migrations,
    register_providers,
    register_routes,
    register_services,
    register_slash_commands,
)  # fmt: skip

__all__ = ["register_cli_commands", "register_jobs", "register_migrations", "register_providers", "register_routes",
           "register_services", "register_slash_commands"]  # fmt: skip


@hookimpl
async def on_session_start(ctx: PluginContext, session: Session) -> None:
    """Go on with a goal that an earlier Hermes pursued."""
    if not session.parent and shared.is_used(ctx):
        await shared.pursuer_of(ctx).look(session)


@hookimpl
async def on_turn_start(ctx: PluginContext, session: Session, message: Message) -> None:
    """Say that a turn of a goal begins."""
    if session.id in shared.known_of(ctx):
        shared.hearing().tell(ctx, session, message)


@hookimpl
async def on_turn_end(ctx: PluginContext, session: Session, end: TurnEnd) -> None:
    """Look at a goal when a turn of its session is over; a turn that a person stopped pauses it."""
    if not session.parent and shared.is_used(ctx):
        await shared.hearing().turned(ctx, session, end)


@hookimpl
async def pre_llm_call(ctx: PluginContext, session: Session, request: Request) -> Request | None:
    """Say a goal again where the model knows of it no more, as after a compaction."""
    return shared.hearing().reminded(ctx, session, request) if session.id in shared.known_of(ctx) else None


@hookimpl
async def on_session_end(ctx: PluginContext, session: Session, end: SessionEnd) -> None:
    """Pursue no goal here of a session that is closed; a loop that was set in its terminal ends."""
    if session.id in shared.known_of(ctx):
        await shared.hearing().closed(ctx, session)


@hookimpl
async def on_session_deleted(ctx: PluginContext, session: Session, erased: bool) -> None:
    """Forget the goals of a session that is gone."""
    if shared.is_used(ctx):
        await shared.hearing().gone(ctx, session)
