"""Voice notes are written down before anybody answers them."""

# /// hermes
# api = 1
# name = "voice"
# kind = "tool"
# summary = "Writes voice notes down."
#
# [hooks]
# use = ["transform_incoming"]
#
# [permissions]
# kernel = ["llm.call"]
# ///

from attrs import evolve

from hermes_core import hookimpl
from hermes_core.errors import HermesError
from hermes_core.types import Blob, MediaRequest, Text


@hookimpl
async def transform_incoming(ctx, envelope):
    parts = list(envelope.message.parts)
    sounds = [p for p in parts if isinstance(p, Blob) and p.media_type.startswith("audio/")]
    if not sounds:
        return None
    try:
        heard = (await ctx.llm.media("transcribe", MediaRequest(blobs=sounds))).texts
    except HermesError as error:  # the message counts all the same
        ctx.tell(f"A voice note could not be written down: {error}")
        return None
    texts = dict(zip(map(id, sounds), heard, strict=True))
    parts = [Text(text=texts[id(p)]) if id(p) in texts else p for p in parts]
    return evolve(envelope, message=evolve(envelope.message, parts=parts))
