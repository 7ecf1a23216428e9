"""What a person does with what was learned, whichever door they come through."""

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.types import Principal, Session
from hermes_tool_kit.used import mark_used
from hermes_tool_lessons.shared import config_of, is_on, is_used, ledger_of, queue_of, rows_of
from hermes_tool_lessons.values import Draft, Event, Lesson, Scope

__all__ = ["marked", "review", "thumb", "written"]


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


async def thumb(ctx: PluginContext, owner: Principal, session: str, *, good: bool, said: str = "") -> str:
    """Write down what a person says of the last turn of a conversation. Raises UserError where that is nothing.

    What they say with it is a correction, from which a review may learn.
    """
    before = await ledger_of(ctx).open_turn(session) if is_used(ctx) else None
    if before is None:
        raise UserError("It is known already what the last turn came to, or there was none.", hint="/learned shows it.")
    return await marked(ctx, owner, before, good=good, said=said)


async def marked(ctx: PluginContext, owner: Principal, turn: Event, *, good: bool, said: str = "") -> str:
    """Write down what a person says of a turn. Raises UserError where it is known already."""
    config, ledger = config_of(ctx), ledger_of(ctx)
    known = UserError("It is known already what that turn came to.")
    if any(one.kind == "outcome" for one in await ledger.of_turn(owner, turn.turn)):
        raise known
    kind = "thanks" if good else "correction"
    event = Event(id=f"{turn.turn}/{kind}", kind=kind, session=turn.session, turn=turn.turn, value=float(good),
                  text=ctx.masks.text(said or ("thumbs up" if good else "thumbs down"))[:300])  # fmt: skip
    await ledger.write(owner, event)  # first: after a death it can be said again, and their words are not lost
    why = "its person said so"
    if not await ledger.settle(owner, turn.session, turn.turn, good=good, why=why, mode=config.mode):
        raise known
    if not good:
        await queue_of(ctx).plan(owner, turn.session, "its person corrected it", config.idle_seconds)
    return "Noted: that went well." if good else "Noted: that went badly."
