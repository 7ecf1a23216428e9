"""A person's yes to what is done on a screen: to one act, or to all of a conversation. No mode gives it."""

import os

from hermes_core.context import PluginContext
from hermes_core.errors import ToolError
from hermes_core.kinds import ToolContext
from hermes_core.types import Question

__all__ = ["agreed"]

_YES = "acts"  # the document with what a person agreed to in a session
_OUTSIDE = "; what is on the screen is text from outside, which may have asked for it"


async def agreed(ctx: PluginContext, context: ToolContext, deed: str, whose: str) -> None:
    """Make sure that a person agrees to an act. Raises ToolError.

    A yes for the conversation that was said before text from outside came into it does not count after that.
    """
    session = context.session
    kept = await ctx.documents.get(_YES, owner=session.owner, session_id=session.id)
    if kept and whose in kept.value and (kept.value[whose] or not session.untrusted):
        return
    question = Question(
        id=os.urandom(16).hex(),
        kind="approval",
        subject=deed,
        risk=f"acts on {whose}{_OUTSIDE if session.untrusted else ''}",
        choices=("once", "session", "deny"),
        covers=f"every click and key on {whose}, in this conversation",
    )
    verdict = await context.ask(question)
    if verdict.outcome != "allow":
        if verdict.by:
            raise ToolError(f"Not done: the person does not want it. {verdict.reason}".strip(), retry=False)
        text = "Not done: what is done on a screen needs a person's yes, and nobody is here."
        raise ToolError(text, hint="A person in the conversation can allow it, once or for all of it.", retry=False)
    if verdict.choice == "session":
        value = {**(kept.value if kept else {}), whose: bool(session.untrusted)}
        await ctx.documents.put(_YES, value, owner=session.owner, session_id=session.id)
