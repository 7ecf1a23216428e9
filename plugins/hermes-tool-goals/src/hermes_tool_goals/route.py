"""Goals over HTTP, for who has a key of the API: ``/api/goals``."""

from collections.abc import Mapping
from typing import Any

from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName, UserError
from hermes_core.types import Routes
from hermes_tool_kit.json_route import Asked, NoMethod, Operation, json_route

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_tool_goals.values import Goal

__all__ = ["goals_route"]

_VERBS = ("pause", "resume", "clear", "done")
_NEW = {"session": "string", "goal": "string"}
_OPERATIONS = (
    Operation(method="GET", path="", name="listGoals", summary="The goals and loops of the person whose key it is."),
    Operation(method="POST", path="", name="createGoal", summary="Sets the goal of a session, as `/goal` writes it.",
              status=201, fields=_NEW, needed=("session", "goal")),
    Operation(method="GET", path="/{id}", name="getGoal", summary="A goal, with the evidence of every round."),
    Operation(method="PATCH", path="/{id}", name="changeGoal", fields={"goal": "string"}, needed=("goal",),
              summary="Changes it: what is not said stays."),
    *(Operation(method="POST", path=f"/{{id}}/{verb}", name=f"{verb}Goal", summary=f"As `/goal {verb}`.")
      for verb in _VERBS),
)  # fmt: skip
_HIDDEN = ("person", "profile", "speaker", "bounds", "version", "owed", "reports", "report")


def goals_route(ctx: PluginContext) -> Routes:
    """The route ``goals``: GET and POST; below it /ID with GET and PATCH, and POST to /ID/VERB.

    A program says no commands and no files that are to be checked: those a person sets at a terminal, or in a chat.
    """

    async def answer(asked: Asked) -> tuple[int, object]:
        method, words = asked.method, asked.words
        if not words:
            if method == "POST":
                return 201, _plain(await _set(ctx, asked))
            if not asked.reads:
                raise NoMethod
            return 200, {"goals": await _all(ctx, asked)}
        if len(words) == 1 and (asked.reads or method == "PATCH"):
            return 200, await (_whole(ctx, asked) if asked.reads else _edited(ctx, asked))
        if method != "POST" or len(words) != 2:
            raise NoMethod
        if words[1] not in _VERBS:
            raise UnknownName("verb", words[1], _VERBS)
        return 200, _plain(await _moved(ctx, asked, words[1]))

    return json_route("goals", answer, _OPERATIONS)


async def _all(ctx: PluginContext, asked: Asked) -> list[Mapping[str, Any]]:
    from hermes_tool_goals.shared import goals_of, is_used

    return [_plain(one) for one in await goals_of(ctx).list(asked.owner)] if is_used(ctx) else []


async def _set(ctx: PluginContext, asked: Asked) -> "Goal":
    from hermes_tool_goals.actions import Door, set_goal
    from hermes_tool_goals.grammar import parse

    said = _texts(asked.body, _NEW)
    session = await ctx.sessions.get(asked.owner, said.get("session", ""))
    return await set_goal(Door(ctx, session, "api", admin=False), parse(said.get("goal", "")))


async def _found(ctx: PluginContext, asked: Asked) -> "Goal":
    """Return a goal of the person whose key it is. Raises UnknownName."""
    from hermes_tool_goals.shared import goals_of, is_used

    there = await goals_of(ctx).list(asked.owner) if is_used(ctx) else ()
    found = next((one for one in there if one.id == asked.words[0]), None)
    if found is None:
        raise UnknownName("goal", asked.words[0], [one.id for one in there])
    return found


async def _whole(ctx: PluginContext, asked: Asked) -> Mapping[str, Any]:
    from attrs import asdict

    from hermes_tool_goals.shared import goals_of

    goal = await _found(ctx, asked)
    return {**_plain(goal), "rounds": [asdict(one) for one in await goals_of(ctx).rounds(goal.id)]}


async def _edited(ctx: PluginContext, asked: Asked) -> Mapping[str, Any]:
    from hermes_tool_goals.actions import Door, edit
    from hermes_tool_goals.grammar import parse

    goal, said = await _found(ctx, asked), _texts(asked.body, ("goal",))
    session = await ctx.sessions.get(asked.owner, goal.session)
    return _plain(await edit(Door(ctx, session, "api", admin=False), goal, parse(said.get("goal", ""))))


async def _moved(ctx: PluginContext, asked: Asked, verb: str) -> "Goal":
    from hermes_tool_goals import actions

    goal = await _found(ctx, asked)
    door = actions.Door(ctx, await ctx.sessions.get(asked.owner, goal.session), "api", admin=False)
    if verb == "pause":
        return await actions.pause(door, goal)
    if verb == "resume":
        return await actions.resume(door, goal)
    return await (actions.clear(door, goal) if verb == "clear" else actions.end(door, goal))


def _texts(said: Mapping[str, Any], known: Any) -> Mapping[str, str]:
    """Return what a body says. Raises UserError."""
    for name, value in said.items():
        if name not in known or not isinstance(value, str):
            raise UserError(f"{name!r} is not set here, or not of its kind.")
    return said


def _plain(goal: "Goal") -> Mapping[str, Any]:
    from attrs import asdict

    return {name: value for name, value in asdict(goal).items() if name not in _HIDDEN}
