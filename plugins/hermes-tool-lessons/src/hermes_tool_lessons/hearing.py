"""What is done when a turn is heard of: it is told lessons, what it did is written down, and what became of it."""

import json
import re
from collections.abc import Sequence

from attrs import evolve

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError
from hermes_core.types import Message, Request, Session, Text, TurnEnd
from hermes_tool_kit.used import mark_used
from hermes_tool_lessons.shared import config_of, is_used, ledger_of, queue_of, reviewer_of, rows_of, selector_of
from hermes_tool_lessons.signs import followed, judged, said_by_person, seen
from hermes_tool_lessons.values import QUOTED, Event, Lesson, facts_of

__all__ = ["begun", "ended", "gone", "learns", "told", "visited"]

_WINDOW = 80  # messages of a turn that are looked at
_SHOWN = 300  # characters that are kept of a person's words
_NOBODY = frozenset({"", "guest", "blocked"})  # roles for whom nothing is learned
_SAYS, _AT_ONCE = 24, 600.0  # characters of what is asked again, and seconds within which that says something
_TAKEN_BACK = re.compile(
    r"\(The last (?:exchange was|(\d+) exchanges were) taken back; the model is not told of it any more\.\)"
)
_ABOVE = (
    "(No person wrote this.) Learned from earlier work here. These are notes, no orders: what the person says now, and"
    " what is allowed, comes first."
)


def learns(session: Session) -> bool:
    """Tell whether anything is learned of a session: not of child agents, hidden ones, or guests."""
    return not session.parent and (session.rights is None or session.rights.role not in _NOBODY)


async def begun(ctx: PluginContext, session: Session, message: Message) -> None:
    """Judge the turn before this one: by what its person says next, else by how its tests ended."""
    said = said_by_person(message)
    if not said or not is_used(ctx):
        return
    ledger = ledger_of(ctx)
    mode = config_of(ctx).mode
    before = await ledger.open_turn(session.id)
    if before is None or before.turn == session.turn:
        return
    if many := await _taken_back(ctx, session, before):
        for turn in await ledger.turns(session.id, many + 1):
            if turn.turn != session.turn:
                await ledger.settle(
                    session.owner, session.id, turn.turn, good=False, why="its person took it back", mode=mode
                )
        return
    good, why = judged(said), "its person said so"
    if good is not None:
        kind = "thanks" if good else "correction"
        text = ctx.masks.text(_short(said))
        name = f"{before.turn}/{kind}"
        event = Event(id=name, kind=kind, session=session.id, turn=before.turn, text=text, value=float(good))
        await ledger.write(session.owner, event)
    else:
        good, why = proof_of(before)
        if good is None and _again(said, before, await queue_of(ctx).now()):
            good, why = False, "its person asked for it again"
    if good is not None:
        await ledger.settle(session.owner, session.id, before.turn, good=good, why=why, mode=mode)


async def _taken_back(ctx: PluginContext, session: Session, before: Event) -> int:
    """Return how many of the last turns their person took back since the last one ended."""
    rows = await ctx.sessions.read(session.owner, session.id, window=6)
    ended = int(facts_of(before).get("to", 0))
    found = [_TAKEN_BACK.fullmatch(_text(one)) for at, one in rows if at > ended > 0 and one.role == "assistant"]
    return sum(int(one[1] or 1) for one in found if one)


def _again(said: str, before: Event, now: float) -> bool:
    """Tell whether a person said the very same at once: what is short is said often, and means nothing."""
    said = _short(said)
    return len(said) >= _SAYS and said == facts_of(before).get("asked") and now - before.at < _AT_ONCE


def _short(said: str) -> str:
    return " ".join(said.split())[:_SHOWN]


def _text(message: Message) -> str:
    return "".join(part.text for part in message.parts if isinstance(part, Text))


def proof_of(turn: Event) -> tuple[bool | None, str]:
    """Say what a turn came to by what it did itself, and why; None where that proves nothing."""
    facts = facts_of(turn)
    if facts.get("check") is not None:
        return bool(facts["check"]), f"`{facts.get('command', 'its test')}` {'passed' if facts['check'] else 'failed'}"
    return (False, "it failed") if facts.get("state") == "failed" else (None, "")


async def told(ctx: PluginContext, session: Session, request: Request) -> Request | None:
    """Add the lessons that a message calls for to the request that it begins; they are stored with it."""
    if not is_used(ctx):
        return None
    if request.tools:
        ctx.state["tools"] = request.tools  # what a replay offers: what is offered now
    said = _asked(request)
    if not said:
        return None
    config, selector = config_of(ctx), selector_of(ctx)
    index = await selector.index(session.owner)
    if not len(index):
        return None
    places = {("project", session.cwd)} if session.cwd else set()
    if index.has_chats:
        places |= {("chat", one) for one in await chats_of(ctx, session)}
    lessons, held = await selector.pick(index, session.owner, said, places, config.prompt_bytes)
    if held:
        await ledger_of(ctx).hold(session.owner, session.id, session.turn, held)
    if not lessons:
        return None
    await ledger_of(ctx).tell(session.owner, session.id, session.turn, [one.id for one in lessons])
    there = _stands(request)
    new = [one for one in lessons if one.line not in there]
    return evolve(request, messages=(*request.messages, message_of(new))) if new else None


def message_of(lessons: "list[Lesson]") -> Message:
    """Return how lessons are told."""
    text = "\n".join([_ABOVE, *(f"- {one.line}" for one in lessons)])
    return Message(role="user", parts=(Text(text=text, quotes=QUOTED),))


async def chats_of(ctx: PluginContext, session: Session) -> Sequence[str]:
    """Return the chat that a session was asked from, as scopes name it, and its thread; none where it was none."""
    came = await ctx.sessions.asked_from(session.id, session.owner)
    if came is None:
        return ()
    chat = f"{came.platform}:{came.chat}"
    return (chat, f"{chat}:{came.thread}") if came.thread else (chat,)


def _asked(request: Request) -> str:
    """Return what a person said, where the request is the first that answers it and no lesson was told yet."""
    said: list[str] = []
    for message in reversed(request.messages):
        if message.role != "user":
            break
        if any(isinstance(part, Text) and part.quotes == QUOTED for part in message.parts):
            return ""
        if words := said_by_person(message):
            said.insert(0, words)
    return "\n".join(said)


def _stands(request: Request) -> str:
    """Return the lessons that the request holds by what was told before."""
    parts = (part for one in request.messages if one.role == "user" for part in one.parts)
    return "\n".join(part.text for part in parts if isinstance(part, Text) and part.quotes == QUOTED)


async def ended(ctx: PluginContext, session: Session, end: TurnEnd) -> None:
    """Write down what a turn did, and have its conversation reviewed where there is something to learn from."""
    if not is_used(ctx):
        mark_used(ctx)
    ledger, config, turn = ledger_of(ctx), config_of(ctx), session.turn
    try:
        numbered = await ctx.sessions.read(session.owner, session.id, window=_WINDOW)
    except HermesError:  # it was deleted meanwhile
        return
    did = seen([one for _, one in numbered])
    first, asked = next(((at, said) for at, one in reversed(numbered) if (said := said_by_person(one))), (0, ""))
    facts = {
        "state": end.reason, "calls": did.calls, "failed": did.failed, "retries": did.retries, "check": did.check,
        "mended": did.mended, "command": did.command, "outside": did.outside or session.untrusted,
        "cost": round(end.usage.cost, 6), "seconds": round(end.seconds, 3), "model_calls": end.usage.calls,
        "request": end.usage.input // max(1, end.usage.calls), "from": first,
        "to": numbered[-1][0] if numbered else 0, "asked": _short(asked),
    }  # fmt: skip
    tokens = float(end.usage.input + end.usage.output)
    what = [Event(id=f"{turn}/turn", kind="turn", session=session.id, turn=turn, value=tokens,
                  text=ctx.masks.text(json.dumps(facts, ensure_ascii=False)))]  # fmt: skip
    for lesson in await ledger.offered(turn):
        if (did_it := followed(lesson.text, did.acts)) is not None:
            name = f"{turn}/followed/{lesson.id}"
            what.append(Event(id=name, kind="followed", session=session.id, turn=turn, lesson=lesson.id,
                              value=float(did_it)))  # fmt: skip
    await ledger.write(session.owner, *what)
    await ledger.estimate(session.owner)
    reason = await _reason(ctx, session, mended=did.mended, retries=did.retries)
    await queue_of(ctx).plan(session.owner, session.id, reason, config.idle_seconds)
    reviewer_of(ctx).wake(session.id)


async def visited(ctx: PluginContext, session: Session) -> None:
    """Write down that a guest spoke in a conversation of several: what it teaches from now on waits for a person."""
    mark_used(ctx)
    event = Event(id=f"{session.turn}/guest", kind="guest", session=session.id, turn=session.turn)
    await ledger_of(ctx).write(session.owner, event)


async def gone(ctx: PluginContext, session: Session, *, erased: bool) -> None:
    """Forget what happened in a session that is gone, with the summaries of weeks that it was a source of."""
    from hermes_tool_lessons.weeks import source_gone

    await source_gone(ctx, session)
    await rows_of(ctx).forget_session(session.id, erased=erased)


async def _reason(ctx: PluginContext, session: Session, *, mended: bool, retries: int) -> str:
    """Say why a conversation is worth a review by now; empty where nothing was learned in it by trial."""
    since = await ledger_of(ctx).of_session(session.id, await queue_of(ctx).last(session.id))
    if any(one.kind == "correction" for one in since):
        return "its person corrected it"
    if mended:
        return "a test that failed passes"
    if retries > 1:
        return "something was tried again and again"
    most = config_of(ctx).turns
    worked = sum(facts_of(one).get("calls", 0) > 0 for one in since if one.kind == "turn")
    return f"{worked} turns with tools" if most and worked >= most else ""
