"""Writes voice notes down before anybody answers them, and speaks: what a model asks for, and answers in chats."""

from hermes_core import hookimpl
from hermes_core.context import PluginContext
from hermes_core.types import Blob, Envelope, Message, Session, Verdict
from hermes_tool_speech.registering import (
    register_checks,
    register_jobs,
    register_services,
    register_slash_commands,
    register_tools,
)
from hermes_tool_speech.turning import on_session_end, on_turn_end, on_turn_start, on_words, post_llm_call, with_notes

__all__ = [
    "on_session_end", "on_turn_end", "on_turn_start", "on_words", "post_llm_call",
    "register_checks", "register_jobs", "register_services", "register_slash_commands", "register_tools",
]  # fmt: skip


@hookimpl
async def transform_incoming(ctx: PluginContext, envelope: Envelope, session_id: str) -> Envelope | None:
    """Put what was said in place of each voice note."""
    if talked := ctx.state.get("talked", {}).pop(session_id, ""):  # a terminal shows only `/talk`
        ctx.tell(f"You said: {talked}")
    sounds = [p for p in envelope.message.parts if isinstance(p, Blob) and p.media_type.startswith("audio/")]
    if not sounds or not ctx.config.write_down:
        return await with_notes(ctx, envelope, session_id)
    from hermes_tool_speech.notes import written_down

    return await written_down(ctx, envelope, sounds)


@hookimpl
async def may_stream(ctx: PluginContext, session: Session) -> Verdict | None:
    """Keep the words of an answer back that will be spoken alone."""
    from hermes_tool_speech.answering import HERE, kept_back

    return await kept_back(ctx, session) if session.origin not in HERE else None


@hookimpl(trylast=True)  # after who changes the text
async def transform_outgoing(ctx: PluginContext, session: Session, message: Message) -> Message | None:
    """Have the answer spoken in place of its text, where its chat wishes that."""
    if session.id not in ctx.state.get("instead", ()):
        return None
    from hermes_tool_speech.answering import instead

    return await instead(ctx, session, message)
