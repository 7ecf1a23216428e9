"""``/goal`` and ``/loop``: a person sets what a conversation pursues, and sees how it stands."""

from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.types import Choice, Session, SlashCommand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_tool_goals.actions import Door

__all__ = ["slash_commands"]

_VERBS = ("show", "pause", "resume", "edit", "draft", "accept", "dismiss", "done", "clear")
_SAME = {"status": "show", "stop": "clear", "end": "clear"}
_NONE = {
    False: "There is no goal. /goal Make the tests pass | check: pytest -q | turns: 10",
    True: "There is no loop. /loop 10m check the build until it is green",
}


def slash_commands(ctx: PluginContext) -> Sequence[SlashCommand]:
    """The commands; the manifest says where, and for whom."""

    async def goal(session: Session, rest: str) -> str:
        return await _do(_door(ctx, session), rest.strip(), loop=False)

    async def loop(session: Session, rest: str) -> str:
        return await _do(_door(ctx, session), rest.strip(), loop=True)

    async def options(session: Session, rest: str) -> Sequence[Choice]:
        return [] if " " in rest.strip() else [Choice(text=one) for one in _VERBS]

    made = {"goal": goal, "loop": loop}
    return [SlashCommand(name=name, run=run, options=options) for name, run in made.items()]


def _door(ctx: PluginContext, session: Session) -> "Door":
    from hermes_tool_goals.actions import Door

    conversation = ctx.conversation(session)
    conversation.need_person()
    came = conversation.envelope
    speaker = came.speaker if came and came.speaker else session.speaker
    chat = ":".join(filter(None, (came.platform, came.chat, came.thread))) if came and came.account else ""
    return Door(ctx, session, conversation.place, speaker=speaker, admin=conversation.role == "admin", chat=chat)


async def _do(door: "Door", rest: str, *, loop: bool) -> str:
    from hermes_tool_goals import actions
    from hermes_tool_goals.grammar import parse, parse_loop
    from hermes_tool_goals.words import line

    verb, _, words = rest.partition(" ")
    verb = _SAME.get(verb.lower(), verb.lower())
    if not rest or (verb == "show" and not words):
        return await _shown(door, loop=loop)
    if verb == "edit" and words.strip():
        return f"Changed. {line(await actions.edit(door, await actions.find(door, loop=loop), parse(words)))}"
    budget = words.strip().lstrip("|").strip()
    if verb == "resume" and (not budget or _is_budget(budget)):
        goal = await actions.find(door, loop=loop)
        return f"It goes on. {line(await actions.resume(door, goal, parse(budget) if budget else None))}"
    if verb in ("pause", "clear", "done") and not words:
        moves = {"pause": actions.pause, "clear": actions.clear, "done": actions.end}
        said = {"pause": "Paused.", "clear": "Cleared.", "done": "Done, as you say."}
        return f"{said[verb]} {line(await moves[verb](door, await actions.find(door, loop=loop)))}"
    if not loop and ((verb == "draft" and words) or (verb in ("accept", "dismiss") and not words)):
        return await _draft(door, verb, words)
    goal = await actions.set_goal(door, parse_loop(rest) if loop else parse(rest))
    if not loop and not goal.checks:
        return f"{line(goal)}\nWithout a contract a judge alone decides: /goal edit | check: COMMAND adds one."
    return line(goal)


async def _draft(door: "Door", verb: str, words: str) -> str:
    """Have a contract proposed, or take or leave what was: a person has seen each of its commands by then."""
    from hermes_tool_goals import actions, drafting
    from hermes_tool_goals.grammar import pieces
    from hermes_tool_goals.words import line

    await door.admit()
    if verb == "draft":
        proposed = "\n    | ".join(pieces(await drafting.drafted(door.ctx, door.session, words)))
        return f"Proposed, and not set:\n\n    {proposed}\n\n/goal accept sets it, /goal dismiss does not."
    if verb == "accept":
        goal = await actions.set_goal(door, await drafting.accepted(door.ctx, door.session))
        await drafting.dismiss(door.ctx, door.session)
        return line(goal)
    await drafting.dismiss(door.ctx, door.session)
    return "It is not wanted."


def _is_budget(words: str) -> bool:
    """Whether words say nothing but a budget."""
    from hermes_tool_goals.grammar import parse

    try:
        wanted = parse(words)
    except UserError:
        return True  # it is said why it is none
    return not wanted.text and not wanted.checks


async def _shown(door: "Door", *, loop: bool) -> str:
    from hermes_tool_goals.words import about

    goal = await door.rows.live(door.session.id)
    if goal is None or goal.is_loop != loop:
        return _NONE[loop]
    return about(goal, await door.rows.rounds(goal.id, 3))
