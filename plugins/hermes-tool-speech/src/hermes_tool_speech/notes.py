"""Voice notes as text."""

from collections.abc import Sequence

from attrs import evolve

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError
from hermes_core.types import Blob, Envelope, MediaRequest, Text

__all__ = ["written_down"]


async def written_down(ctx: PluginContext, envelope: Envelope, sounds: Sequence[Blob]) -> Envelope | None:
    """Return the message with texts in place of sounds; None where nobody could write them down: it counts as it is.

    A note in which nothing was said stays a sound.
    """
    options = {"language": ctx.config.language} if ctx.config.language else {}
    try:
        heard = (await ctx.llm.media("transcribe", MediaRequest(blobs=sounds, options=options))).texts
    except HermesError as error:
        ctx.tell(f"A voice note could not be written down: {error}")
        return None
    texts = {id(sound): text.strip() for sound, text in zip(sounds, heard, strict=False)}
    parts = [Text(text=said) if (said := texts.get(id(part))) else part for part in envelope.message.parts]
    return evolve(envelope, message=evolve(envelope.message, parts=parts))
