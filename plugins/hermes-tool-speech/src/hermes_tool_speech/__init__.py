"""Writes voice notes down before anybody answers them, and speaks: what a model asks for, and answers in chats."""

from collections.abc import Sequence

from hermes_core import Tool, hookimpl
from hermes_core.context import PluginContext
from hermes_core.kinds import Service
from hermes_core.types import Blob, Check, Envelope, Response, Session, SlashCommand, TurnEnd


@hookimpl
async def transform_incoming(ctx: PluginContext, envelope: Envelope) -> Envelope | None:
    """Put what was said in place of each voice note."""
    sounds = [p for p in envelope.message.parts if isinstance(p, Blob) and p.media_type.startswith("audio/")]
    if not sounds or not ctx.config.write_down:
        return None
    from hermes_tool_speech.notes import written_down

    return await written_down(ctx, envelope, sounds)


@hookimpl
async def post_llm_call(ctx: PluginContext, session: Session, response: Response) -> None:
    """Hear what may be the answer."""
    from hermes_tool_speech.answering import heard

    heard(ctx, session, response)


@hookimpl
async def on_turn_end(ctx: PluginContext, session: Session, end: TurnEnd) -> None:
    """Have the answer spoken, where its chat wishes that."""
    from hermes_tool_speech.answering import over

    await over(ctx, session, end)


@hookimpl
def register_services(ctx: PluginContext) -> Sequence[Service]:
    """The service ``voices``."""
    from hermes_tool_speech.answering import Voices

    return [Voices(ctx)]


@hookimpl
def register_slash_commands(ctx: PluginContext) -> Sequence[SlashCommand]:
    """``/voice`` in chats, ``/talk`` in terminals."""
    from hermes_tool_speech.answering import voice_command
    from hermes_tool_speech.talking import talk_command

    return [voice_command(ctx), talk_command(ctx)]


@hookimpl
def register_checks(ctx: PluginContext) -> Sequence[Check]:
    """Whether who is set to speak and to hear is there."""
    from hermes_tool_speech.checks import checks

    return checks(ctx)


@hookimpl
def register_tools(ctx: PluginContext) -> Sequence[Tool]:
    """The tool ``speak``."""
    from hermes_tool_speech.tool import speak_tool

    return [speak_tool(ctx)]
