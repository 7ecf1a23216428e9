"""Writes voice notes down before anybody answers them, and speaks what a model asks for."""

from collections.abc import Sequence

from hermes_core import Tool, hookimpl
from hermes_core.context import PluginContext
from hermes_core.types import Blob, Envelope


@hookimpl
async def transform_incoming(ctx: PluginContext, envelope: Envelope) -> Envelope | None:
    """Put what was said in place of each voice note."""
    sounds = [p for p in envelope.message.parts if isinstance(p, Blob) and p.media_type.startswith("audio/")]
    if not sounds or not ctx.config.write_down:
        return None
    from hermes_tool_speech.notes import written_down

    return await written_down(ctx, envelope, sounds)


@hookimpl
def register_tools(ctx: PluginContext) -> Sequence[Tool]:
    """The tool ``speak``."""
    from hermes_tool_speech.tool import speak_tool

    return [speak_tool(ctx)]
