"""Voice notes as text."""

from collections.abc import Sequence

from attrs import evolve

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError
from hermes_core.types import Blob, Envelope, Text
from hermes_tool_speech.ways import hearing

__all__ = ["written_down"]

_SHOWN = 500  # characters of what was understood


async def written_down(ctx: PluginContext, envelope: Envelope, sounds: Sequence[Blob]) -> Envelope | None:
    """Return the message with texts in place of sounds; None where nobody could write them down: it counts as it is.

    A note in which nothing was said stays a sound.
    """
    texts: dict[int, str] = {}
    try:
        way = hearing(ctx)
        for sound in sounds:
            texts[id(sound)] = (await way.hear(sound)).strip()
    except HermesError as error:
        ctx.tell(f"A voice note could not be written down: {error}")
        if not texts:
            return None
    for said in texts.values():
        if ctx.config.echo and said:
            ctx.tell(f"Understood: {said[:_SHOWN]}{'…' if len(said) > _SHOWN else ''}")
    parts = [Text(text=text) if (text := texts.get(id(part))) else part for part in envelope.message.parts]
    return evolve(envelope, message=evolve(envelope.message, parts=parts))
