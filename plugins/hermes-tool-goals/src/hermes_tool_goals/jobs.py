"""The goal of a conversation, for whoever shows and stops what runs beside it."""

from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.kinds import Jobs
from hermes_core.types import Job, Session
from hermes_tool_goals.looking import take_back
from hermes_tool_goals.shared import goals_of, is_used, pursuer_of
from hermes_tool_goals.words import about, short

__all__ = ["Pursued"]


class Pursued(Jobs):
    """The goal that is active or paused."""

    name = "goal"

    def __init__(self, ctx: PluginContext) -> None:
        self._ctx = ctx

    async def running(self, session: Session) -> Sequence[Job]:
        if not is_used(self._ctx) or (goal := await goals_of(self._ctx).live(session.id)) is None:
            return []
        what = "Loop" if goal.is_loop else "Goal"
        title = f"{what}, {goal.used_turns} of {goal.turns} turns: {short(goal.text)}"
        state = "running" if goal.state == "active" else "idle"
        own = session.id  # it goes on in the conversation itself, which /stop then stops between turns, too
        return [Job(id=goal.id, kind="other", title=title, since=goal.created, state=state, last=goal.why[:300],
                    session_id=own)]  # fmt: skip

    async def stop(self, session: Session, job: str) -> bool:
        """Pause it; a turn of it that waits does not begin."""
        goal = await goals_of(self._ctx).change(job, ("active",), state="paused", why="a person stopped it")
        if goal is None:
            return False
        await take_back(self._ctx, goal)
        pursuer_of(self._ctx).wake(goal)
        return True

    async def output(self, session: Session, job: str) -> str:
        """How it stands, with what its last rounds came to."""
        goal = await goals_of(self._ctx).get(job)
        return about(goal, await goals_of(self._ctx).rounds(goal.id, 3)) if goal else ""
