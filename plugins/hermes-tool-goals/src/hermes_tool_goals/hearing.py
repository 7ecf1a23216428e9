"""What is done when a conversation with a goal is heard of: its turns begin and end, its session closes."""

from attrs import evolve

from hermes_core.context import PluginContext
from hermes_core.types import Message, Request, Session, Text, TurnEnd
from hermes_tool_goals.clearing import clear
from hermes_tool_goals.shared import goals_of, known_of, pursuer_of
from hermes_tool_goals.values import QUOTED, round_event, tag

__all__ = ["closed", "gone", "reminded", "tell", "turned"]


def tell(ctx: PluginContext, session: Session, message: Message) -> None:
    """Say to who watches that a turn of the goal begins, and why."""
    goal = known_of(ctx)[session.id]
    if any(isinstance(part, Text) and part.quotes == QUOTED for part in message.parts):
        from hermes_tool_goals.words import began

        ctx.tell(began(goal, goal.round))


async def turned(ctx: PluginContext, session: Session, end: TurnEnd) -> None:
    """Look at the goal of a session whose turn is over.

    Where a person stopped a turn, it rests: unless a message of theirs waits, which is then played first. A turn that
    its process left to the next one was stopped by nobody.
    """
    goal = await goals_of(ctx).live(session.id)
    if goal is not None and goal.state == "active" and end.reason == "interrupted":
        past = await ctx.turns.past(round_event(goal.id, goal.round), owner=session.owner)
        own = past is not None and past.turn_id == session.turn  # of that who pursues it knows what to do
        left = session.id in await ctx.turns.interrupted(owner=session.owner)
        if not (own or left or await ctx.host.turns.waiting(session.id)):
            await goals_of(ctx).change(goal.id, ("active",), state="paused", why="you stopped a turn")
    await pursuer_of(ctx).look(session)


def reminded(ctx: PluginContext, session: Session, request: Request) -> Request | None:
    """Add the goal to a request in which it does not stand."""
    goal = known_of(ctx)[session.id]
    if not goal.used_turns:  # it was not told yet
        return None
    mark = tag(goal)
    for message in reversed(request.messages):
        text = "".join(one.text for one in message.parts if isinstance(one, Text)) if message.role == "user" else ""
        if mark in text and goal.text in text:
            return None
    from hermes_tool_goals.words import reminder

    said = Message(role="user", parts=(Text(text=reminder(goal), quotes=QUOTED),))
    return evolve(request, messages=(*request.messages, said))


async def gone(ctx: PluginContext, session: Session) -> None:
    """Forget the goals of a session that was deleted, and what their checks left."""
    await clear(ctx, session=session.id)
    await goals_of(ctx).remove_session(session.id)


async def closed(ctx: PluginContext, session: Session) -> None:
    """Let go of the goal of a session; a loop ends with the terminal that it was set in."""
    goal = known_of(ctx)[session.id]
    await pursuer_of(ctx).stop(session.id)
    if goal.is_loop and goal.door == "terminal" and not ctx.state.get("borrowed"):
        await goals_of(ctx).change(goal.id, ("active",), state="ended", why="its conversation was closed")
