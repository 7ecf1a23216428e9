"""What a person does with what was learned, whichever door they come through."""

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.types import Principal, Session
from hermes_tool_kit.used import mark_used
from hermes_tool_lessons.shared import config_of, is_on, queue_of, rows_of
from hermes_tool_lessons.values import Draft, Lesson, Scope

__all__ = ["review", "written"]


async def written(
    ctx: PluginContext, owner: Principal, text: str, *, trigger: str = "", scope: Scope = "person", place: str = ""
) -> Lesson:
    """Keep a lesson that a person wrote. Raises UserError."""
    if not trigger and text.lower().startswith("when ") and ":" in text:
        trigger, _, text = text[5:].partition(":")
    mark_used(ctx)
    draft = Draft(trigger=trigger.strip(), text=text.strip(), scope=scope, place=place)
    config = config_of(ctx)
    lesson, why = await rows_of(ctx).propose(owner, draft, mode=config.mode, most=config.lessons, author="person")
    if lesson is None:
        raise UserError(f"That was not learned: {why}.", hint="A lesson is one fact about the work, in a line.")
    return lesson


async def review(ctx: PluginContext, owner: Principal, session: Session) -> str:
    """Have a conversation reviewed as soon as it rests. Raises UserError where nothing is learned."""
    if not is_on(ctx):
        raise UserError("Nothing is learned here.", hint=f"{ctx.program} config set learning.mode ask")
    if session.parent:
        raise UserError("This conversation is none of a person's.")
    mark_used(ctx)
    return await queue_of(ctx).plan(owner, session.id, "its person asked for it", 0.0, asked=True)
