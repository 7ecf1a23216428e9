"""What a person does with a goal, whichever door they come through: a conversation, a chat, the API, a terminal."""

import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import asdict, evolve

from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName, UserError
from hermes_core.types import JSON, Session, Speaker
from hermes_tool_goals.grammar import Wanted
from hermes_tool_goals.looking import take_back
from hermes_tool_goals.shared import config_of, goals_of, pursuer_of
from hermes_tool_goals.values import LIVE, Check, Goal
from hermes_tool_goals.words import continuation, first
from hermes_tool_kit.used import mark_used

__all__ = ["Door", "clear", "edit", "end", "find", "named", "pause", "resume", "set_goal"]


class Door:
    """Who does something with the goal of a session, and where.

    ``speaker`` is who writes where several share a session, ``admin`` whether they may change what others set.
    """

    def __init__(
        self,
        ctx: PluginContext,
        session: Session,
        door: str,
        *,
        speaker: Speaker | None = None,
        admin: bool = True,
        chat: str = "",
    ) -> None:
        own = speaker is None or speaker.person == session.owner.person
        self.ctx, self.session, self.door, self.admin, self.chat = ctx, session, door, admin, chat
        self.speaker = None if own else speaker
        self.rows = goals_of(ctx)

    @property
    def is_owner(self) -> bool:
        """Whether it is the one whose Hermes this is, in a session of their own: no program with a key of theirs."""
        return self.admin and self.session.owner == self.ctx.owner and self.speaker is None

    async def admit(self) -> None:
        """Let in who may have goals. Raises UserError for a guest, and for who may do nothing."""
        if self.session.owner == self.ctx.owner and self.speaker is None:
            return
        if "#" in self.session.owner.person and self.speaker is None:
            raise UserError("Several people speak here, and nobody knows who you are: set the goal in a private chat.")
        rights = await self.ctx.host.rights(self.session.owner, self.speaker)
        if rights.refused or rights.silent or rights.role in ("", "guest", "blocked"):
            raise UserError(rights.refused or "Guests have no goals.")

    def own(self, goal: Goal) -> None:
        """Let through who set a goal, and admins. Raises UserError."""
        mine = (goal.speaker or {}).get("person", "") == (self.speaker.person if self.speaker else "")
        if not (mine or self.admin):
            raise UserError("Somebody else set this goal: they or an admin may change it.")


async def set_goal(door: Door, wanted: Wanted) -> Goal:
    """Set the goal, or the loop, of a session; its first turn begins as soon as the session rests. Raises UserError."""
    await door.admit()
    ctx, config, session = door.ctx, config_of(door.ctx), door.session
    if not wanted.text:
        raise UserError("Say what the goal is.", hint="/goal Make the tests pass | check: pytest -q")
    if session.parent:
        raise UserError("A child agent has no goal of its own.")
    goal = Goal(
        id=secrets.token_hex(4),
        profile=session.owner.profile,
        person=session.owner.person,
        session=session.id,
        text=wanted.text,
        checks=_checks(door, wanted.checks),
        interval=wanted.interval,
        until=wanted.until,
        folder=session.cwd if session.owner == ctx.owner else "",
        door=door.door,
        chat=door.chat,
        turns=wanted.turns or config.turns,
        money=wanted.money if wanted.money is not None else config.money,
        seconds=wanted.seconds if wanted.seconds is not None else config.seconds,
        speaker=asdict(door.speaker) if door.speaker else None,
        bounds=_bounds(session),
    )
    mark_used(ctx)
    goal = await door.rows.add(goal, first(goal), config.keep)
    pursuer_of(ctx).wake(goal)
    return goal


async def find(door: Door, *, loop: bool | None = None) -> Goal:
    """Return the goal of a session that is active or paused; or only a ``loop``, or none of these. UserError."""
    goal = await door.rows.live(door.session.id)
    if goal is None or (loop is not None and goal.is_loop != loop):
        what = "loop" if loop else "goal"
        hint = "/loop 10m check the build until it is green" if loop else "/goal Make the tests pass | check: pytest -q"
        raise UserError(f"This conversation has no {what}.", hint=hint)
    return goal


async def pause(door: Door, goal: Goal, why: str = "a person paused it") -> Goal:
    """Let it rest: a turn that runs goes on, one that waits does not begin. Anybody who may have goals may do so."""
    await door.admit()
    if goal.state != "active":
        raise UserError("It is paused.", hint="/goal resume lets it go on.")
    return await _moved(door, goal, ("active",), state="paused", why=why)


async def resume(door: Door, goal: Goal, wanted: Wanted | None = None) -> Goal:
    """Let it go on, with as much to use as it was given at first, or as is ``wanted`` now."""
    await door.admit()
    door.own(goal)
    if goal.state != "paused":
        raise UserError("It is active.")
    amounts: dict[str, Any] = {"used_turns": 0, "used_money": 0.0, "used_seconds": 0.0, "failures": 0, "garbage": 0}
    amounts |= wanted.amounts if wanted else {}
    done = await door.rows.round(goal.id, goal.round - 1)
    after = evolve(goal, state="active", why="", **amounts)
    if goal.phase == "turn":
        await door.rows.replan(goal, first(after) if goal.round == 1 else continuation(after, done))
    moved = await _moved(door, goal, ("paused",), state="active", why="", at=await door.rows.now(), owed=0, **amounts)
    pursuer_of(door.ctx).wake(moved)
    return moved


async def edit(door: Door, goal: Goal, wanted: Wanted) -> Goal:
    """Change its words, its contract or its budget: what is not said stays. Raises UserError."""
    await door.admit()
    door.own(goal)
    values: dict[str, Any] = {**wanted.amounts, "version": goal.version + 1}
    if wanted.text:
        values["text"] = wanted.text
    if wanted.checks:
        values["checks"] = _checks(door, wanted.checks)
    if len(values) == 1:
        raise UserError("Say what is to change.", hint="/goal edit TEXT | check: COMMAND | turns: 10")
    changed = evolve(goal, **values)
    if goal.phase == "turn":
        done = await door.rows.round(goal.id, goal.round - 1)
        await door.rows.replan(goal, first(changed) if goal.round == 1 else continuation(changed, done))
    moved = await _moved(door, goal, LIVE, **values)
    pursuer_of(door.ctx).wake(moved)
    return moved


async def clear(door: Door, goal: Goal) -> Goal:
    """Take it off its session; what was found stays to be looked at."""
    await door.admit()
    door.own(goal)
    return await _moved(door, goal, LIVE, state="cleared", why="a person cleared it", owed=0)


async def end(door: Door, goal: Goal) -> Goal:
    """Call it done: a person says so, whatever the checks say."""
    await door.admit()
    door.own(goal)
    return await _moved(door, goal, LIVE, state="done", why="a person said so", left="", owed=0)


async def _moved(door: Door, goal: Goal, states: Sequence[str], **values: Any) -> Goal:
    """Change it, and take back a turn of it that waits and was not begun: it is ordered again where it goes on."""
    moved = await door.rows.change(goal.id, states, **values)
    if moved is None:
        raise UserError("It was changed a moment ago.", hint="Look at it, and say it again.")
    await take_back(door.ctx, goal)
    pursuer_of(door.ctx).wake(moved)
    return moved


def _checks(door: Door, checks: Sequence[Check]) -> Sequence[Check]:
    """Return what a person may have checked. Raises UserError."""
    if not door.is_owner and any(one.kind != "ask" for one in checks):
        raise UserError(
            "Only whose Hermes this is has commands and files checked, from a terminal or a chat.",
            hint="ask: QUESTION is for everybody.",
        )
    folder = door.session.cwd
    return [evolve(one, what=_place(folder, one.what)) if one.kind == "file" else one for one in checks]


def _place(folder: str, path: str) -> str:
    """Return a path with the home folder written out; one that is relative is looked for in the folder of the goal."""
    return str(Path(path).expanduser()) if path.startswith("~") or not folder else path


def _bounds(session: Session) -> Mapping[str, JSON] | None:
    """Return what the session may do at most, as it is kept: what one turn was granted is for that turn alone."""
    if session.bounds is None:
        return None
    bounds = {**asdict(evolve(session.bounds, grants=())), "never": [one.value for one in session.bounds.never]}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in bounds.items()}


async def named(ctx: PluginContext, words: str) -> Goal:
    """Return a goal by its id, that of its session, or the beginning of either; without words the newest one.

    Raises UnknownName.
    """
    there = await goals_of(ctx).list()
    found = [one for one in there if one.id == words]
    found = found or [one for one in there if one.id.startswith(words) or one.session.startswith(words)]
    live = [one for one in found if one.state in LIVE]
    if not found:
        raise UnknownName("goal", words, [one.id for one in there])
    return (live or found)[0]
