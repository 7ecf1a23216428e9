"""Pictures in words: who needs them, and asking the model that sees, or reading the text that is in them."""

from collections.abc import Sequence

from attrs import evolve

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError
from hermes_core.types import Blob, Feature, MediaRequest, Message, ModelRow, Request, Session, Text

__all__ = ["described", "is_blind", "sees", "words_for"]


async def is_blind(ctx: PluginContext, model: str) -> bool:
    """Tell whether the service says that this model takes no pictures, and that another of its models does.

    A list that says of none that it sees says nothing about seeing: such a model gets the pictures themselves.
    """
    here, rows = await _known(ctx, model)
    return here is not None and not _takes(here) and any(map(_takes, rows))


async def sees(ctx: PluginContext, model: str) -> bool:
    """Tell whether the service says that this model takes pictures."""
    here, _ = await _known(ctx, model)
    return here is not None and _takes(here)


async def _known(ctx: PluginContext, model: str) -> tuple[ModelRow | None, Sequence[ModelRow]]:
    known: dict[str, Sequence[ModelRow]] = ctx.state.setdefault("models", {})
    if model not in known:
        try:
            known[model] = await ctx.models.list()
        except HermesError:  # the model of the conversation may answer all the same
            known[model] = ()
    return next((row for row in known[model] if row.model.name == model), None), known[model]


def _takes(row: ModelRow) -> bool:
    return Feature.IMAGES in row.model.features


async def described(ctx: PluginContext, session: Session, request: Request, pictures: Sequence[Blob]) -> Request | None:
    """Return the request with a message behind it that says what the pictures show; None where nobody can say it.

    The words are from outside: a picture may hold any text, and orders in it are nobody's.
    """
    parts = []
    for picture in pictures:
        name = picture.name or "a picture"
        try:
            seen, by = await words_for(ctx, session, picture, ctx.config.question)
        except HermesError as error:
            ctx.tell(f"Nobody could say what {name} shows: {error}")
            continue
        parts.append(Text(text=f"What {name} shows, {by}:\n{seen}\n"))
    if not parts:
        return None
    words = Message(role="user", parts=parts, untrusted=True)
    return evolve(request, messages=[*request.messages, words])


async def words_for(ctx: PluginContext, session: Session, picture: Blob, question: str) -> tuple[str, str]:
    """What a picture shows, and by whom that is said. Raises HermesError where nobody can.

    Where no model sees, the text in it is read here, if that is installed.
    """
    from hermes_tool_vision.eyes import can_read, read_text, small

    way = ctx.config.see_with
    if way != "ocr":
        try:
            asked = MediaRequest(blobs=(await small(ctx, picture),), texts=(question,))
            return (await ctx.llm.media("see", asked, session=session)).texts[0], "as another model saw it"
        except HermesError:
            if way == "model" or not can_read():
                raise
    text = await read_text(ctx, picture)
    return text or "(There is no text in it.)", "the text in it, as it was read here; nobody saw the rest"
