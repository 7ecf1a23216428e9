"""Pictures in words: who needs them, and asking the model that sees."""

from collections.abc import Sequence

from attrs import evolve

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError
from hermes_core.types import Blob, Feature, MediaRequest, Message, Request, Session, Text

__all__ = ["described", "is_blind"]


async def is_blind(ctx: PluginContext, model: str) -> bool:
    """Tell whether the service says that this model takes no pictures, and that another of its models does.

    A list that says of none that it sees says nothing about seeing: such a model gets the pictures themselves.
    """
    known = ctx.state.setdefault("blind", {})
    if model not in known:
        try:
            rows = [row.model for row in await ctx.models.list()]
        except HermesError:  # the model of the conversation may answer all the same
            rows = []
        here = next((row for row in rows if row.name == model), None)
        known[model] = (
            here is not None
            and Feature.IMAGES not in here.features
            and any(Feature.IMAGES in row.features for row in rows)
        )
    return bool(known[model])


async def described(ctx: PluginContext, session: Session, request: Request, pictures: Sequence[Blob]) -> Request | None:
    """Return the request with a message behind it that says what the pictures show; None where nobody can say it.

    The words are from outside: a picture may hold any text, and orders in it are nobody's.
    """
    parts = []
    for picture in pictures:
        name = picture.name or "a picture"
        asked = MediaRequest(blobs=(picture,), texts=(ctx.config.question,))
        try:
            seen = (await ctx.llm.media("see", asked, session=session)).texts
        except HermesError as error:
            ctx.tell(f"Nobody could say what {name} shows: {error}")
            continue
        parts.append(Text(text=f"What {name} shows, as another model saw it:\n{seen[0]}\n"))
    if not parts:
        return None
    words = Message(role="user", parts=parts, untrusted=True)
    return evolve(request, messages=[*request.messages, words])
