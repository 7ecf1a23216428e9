"""``/forget me`` and ``/export``: what people do with what is kept of them. The first is a row, and done by a service.

So the last answer can still be sent, and a death between yes and done loses nothing: it is done at the next start.
"""

import time
from collections.abc import Sequence
from typing import Any

from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName, UserError
from hermes_core.types import Blob, Message, Session, Text

__all__ = ["erase_due", "export_mine", "forget_me"]

_WANTED = "erasures"
_PAUSE = 60.0  # seconds in which the last answer is sent


async def forget_me(ctx: PluginContext, session: Session, rest: str) -> str:
    """Have everything of the person erased who asks for it. Raises UserError for the owner, and in a group."""
    if rest.strip() != "me":
        raise UserError("Only `/forget me` is understood: it erases everything that is kept of you.")
    person = _themselves(ctx, session)
    due = time.time() + _PAUSE

    def wanted(before: Any) -> Any:
        return {**(before or {}), f"{session.owner.profile}/{person}": due}

    await ctx.documents.change(_WANTED, wanted)
    return (
        "Everything that is kept of you is erased in a minute or two: conversations, memory, files, what you allowed, "
        "and that you were let in. Until then write nothing more. This is the last I say; whoever runs me may have "
        "copies that this does not reach."
    )


async def export_mine(ctx: PluginContext, session: Session, _rest: str) -> Message:
    """Send the person who asks a file with everything that is kept of them. Raises UserError in a group."""
    from hermes_tool_upkeep.export import export_person

    person = _themselves(ctx, session)
    path = await export_person(ctx, person, ctx.paths.data / "exports")
    text = "Everything that is kept of you is in this file. Here it is deleted in a day."
    file = Blob(media_type="application/zip", path=str(path), name="hermes-export.zip")
    return Message(role="assistant", parts=(Text(text=text), file))


def _themselves(ctx: PluginContext, session: Session) -> str:
    """Return who asks, where nobody else reads. Raises UserError."""
    envelope, person = ctx.conversation(session).envelope, session.owner.person
    if envelope is not None and envelope.kind != "dm":
        raise UserError("This is between you and me. Say it in our private chat.")
    if person == ctx.owner.person:
        hint = f"See: {ctx.program} people export, {ctx.program} store erase"
        raise UserError("You are the owner of this Hermes; do it at its terminal.", hint=hint)
    return person


async def erase_due(ctx: PluginContext, now: float) -> Sequence[str]:
    """Erase who asked for it a while ago; who is gone now. Who is busy is tried again the next time."""
    from hermes_tool_upkeep.erase import erase_person

    document = await ctx.documents.get(_WANTED)
    wanted: Any = document.value if document else {}
    gone = []
    for whose, due in wanted.items():
        if due > now:
            continue
        try:
            await erase_person(ctx, whose.partition("/")[2])
        except UnknownName:  # nothing is left: it was done, and a death came before this was written down
            pass
        except UserError as error:
            ctx.log.info("somebody who asked to be forgotten cannot be yet: %s", type(error).__name__)
            continue
        gone.append(whose)

    def left(before: Any) -> Any:
        return {one: due for one, due in (before or {}).items() if one not in gone} or None

    if gone:
        await ctx.documents.change(_WANTED, left)
    return gone
