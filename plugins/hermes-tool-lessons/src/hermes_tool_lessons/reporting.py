"""What a person is shown of what was learned: lines, why, differences, a report with small plots."""

import json
import time
from collections.abc import Mapping, Sequence

from hermes_core.context import PluginContext
from hermes_core.types import Principal
from hermes_tool_kit.plots import bars
from hermes_tool_lessons.chances import helps
from hermes_tool_lessons.shared import ledger_of, queue_of, rows_of
from hermes_tool_lessons.values import Event, Lesson, Version, facts_of

__all__ = ["days_of", "difference", "listed", "report", "why"]

_DAY = 86_400.0


def listed(lessons: Sequence[Lesson]) -> str:
    """Return lessons, a line each."""
    return "\n".join(f"{one.id}  {one.state:<9}  {_record(one):>5}  {_said(one)}" for one in lessons)


async def why(ctx: PluginContext, lesson: Lesson) -> str:
    """Say where a lesson came from, what became of it, and how to take it back."""
    taught, ends = await ledger_of(ctx).about(lesson)
    versions = await rows_of(ctx).versions(lesson.id)
    lines = [_said(lesson), f"{lesson.state} since {_when(lesson.changed)}: {lesson.why}"]
    if lesson.scope != "person":
        lines.append(f"It holds {'for everybody' if lesson.scope == 'everybody' else f'in {lesson.place}'}.")
    if lesson.tainted:
        lines.append("Text from outside was in the conversation that it came of.")
    lines += [
        f"It broke, when that was done again with it: {facts_of(one).get('asked', '')[:120]!r}"
        for one in await ledger_of(ctx).broken(lesson)
    ]
    if lesson.pinned:
        lines.append("It is frozen: nothing that happens changes it.")
    lines.append(f"Taught by{f' session {lesson.session[:8]}' if lesson.session else ' a person'}:")
    lines += [f"  {_when(one.at)}  {_event(one)}" for one in taught] or [
        "  (what taught it was deleted, or was written by hand)"
    ]
    rates = (await ledger_of(ctx).counts(lesson.owner, ()))[1]
    known = f", that turns go better with it: {helps(lesson, rates):.0%}" if lesson.uses else ""
    turns = "1 turn" if lesson.offered == 1 else f"{lesson.offered} turns"
    lines.append(f"Told in {turns}; followed to a known end in {lesson.uses}, {lesson.wins} of them good{known}.")
    lines += [f"  {_when(one.at)}  {'went well' if one.value else 'went badly'}: {one.text}" for one in ends[-10:]]
    lines.append(f"Versions ({ctx.program} learned diff {lesson.id}, {ctx.program} learned revert {lesson.id} N):")
    lines += [
        f"  {one.number}  {_when(one.at)}  {json.loads(one.content)['state']}, by {one.author}: {one.why}"
        for one in versions
    ]
    return _shown(ctx, lines)


def difference(versions: Sequence[Version], first: int = 0, last: int = 0) -> str:
    """Return what changed from one version to another, by default from the one before to the newest."""
    from difflib import unified_diff

    by_number = {one.number: one for one in versions}
    last = last or max(by_number, default=0)
    first = first or last - 1
    old, new = (_lines(by_number.get(number)) for number in (first, last))
    return "\n".join(unified_diff(old, new, f"version {first}", f"version {last}", lineterm="", n=10))


async def report(ctx: PluginContext, owner: Principal, days: int) -> str:
    """Say what was learned in the last days, where it helped, and what it cost."""
    now = await queue_of(ctx).now()
    events = await ledger_of(ctx).since(owner, now - days * _DAY)
    lessons = {one.id: one for one in await rows_of(ctx).list(owner)}
    turns = [one for one in events if one.kind == "turn"]
    ends = {one.turn: one.value for one in events if one.kind == "outcome"}
    told = {one.turn for one in events if one.kind == "offered"}
    credited = [one for one in events if one.kind == "credit"]
    fresh = [one for one in lessons.values() if one.created >= now - days * _DAY]
    gone = [one for one in lessons.values() if one.state == "retired" and one.changed >= now - days * _DAY]
    reviews = [one for one in await queue_of(ctx).list(owner) if one.ended >= now - days * _DAY]
    states = ", ".join(
        f"{sum(one.state == state for one in lessons.values())} {state}"
        for state in ("active", "trial", "candidate", "retired")
    )
    spent, whole = sum(one.tokens for one in reviews), sum(one.value for one in turns)
    share = f" ({spent / whole:.1%} of those of turns)" if whole else ""
    went = f"{_went('With a lesson', ends, told, inside=True)}, {_went('without one', ends, told, inside=False)}."
    lines = [
        f"What was learned in {days} days",
        f"Lessons: {states}. {len(fresh)} new, {len(gone)} let go of.",
        f"Turns: {len(turns)}, {len(ends)} to a known end. {went} That is what happened, and no experiment.",
        f"Reviews: {len(reviews)}, {spent:,} tokens{share}, ${sum(one.money for one in reviews):.2f}.",
        *(f"{name}  {bars(values)}" for name, values in (await days_of(ctx, owner, days)).items()),
    ]
    if failed := [one for one in reviews if one.state == "failed"]:
        lines.append(f"{len(failed)} of them failed, the last because {failed[-1].why}.")
    helped: dict[str, int] = {}
    for one in credited:
        helped[one.lesson] = helped.get(one.lesson, 0) + (1 if one.value else -1)
    best = sorted((name for name in helped if helped[name] > 0 and name in lessons), key=lambda name: -helped[name])[:5]
    lines += ["Helped most:"] if best else []
    lines += [f"  {_said(lessons[name])}" for name in best]
    waiting = [one for one in lessons.values() if one.state == "candidate"]
    if waiting:
        lines.append(f"{len(waiting)} wait for your yes: /learned approve ID, /learned reject ID.")
    return _shown(ctx, lines)


async def days_of(ctx: PluginContext, owner: Principal, days: int) -> Mapping[str, Sequence[float]]:
    """Return what happened on each of the last days, the oldest first: uses of lessons, those that went well, US $."""
    now = await queue_of(ctx).now()
    events = await ledger_of(ctx).since(owner, now - days * _DAY, "credit", "turn")
    credited = [one for one in events if one.kind == "credit"]
    return {
        "uses": _by_day(credited, now, days),
        "wins": _by_day([one for one in credited if one.value], now, days),
        "cost": _by_day([one for one in events if one.kind == "turn"], now, days, cost=True),
    }


def _by_day(events: Sequence[Event], now: float, days: int, *, cost: bool = False) -> Sequence[float]:
    made = [0.0] * days
    for one in events:
        day = days - 1 - int((now - one.at) / _DAY)
        if 0 <= day < days:
            made[day] += float(facts_of(one).get("cost", 0)) if cost else 1.0
    return made


def _went(who: str, ends: dict[str, float], told: set[str], *, inside: bool) -> str:
    values = [value for turn, value in ends.items() if (turn in told) == inside]
    return f"{who} {int(sum(values))} of {len(values)} went well"


def _lines(version: Version | None) -> Sequence[str]:
    told = json.loads(version.content) if version else {}
    return [f"{name}: {value}" for name, value in told.items() if value not in ("", False)]


def _shown(ctx: PluginContext, lines: Sequence[str]) -> str:
    """Return lines without secrets, and with nothing in them that a terminal obeys: they quote commands that ran."""
    from hermes_tables.tables import harmless

    return harmless(ctx.masks.text("\n".join(lines)))


def _said(lesson: Lesson) -> str:
    return lesson.line.partition("] ")[2]


def _record(lesson: Lesson) -> str:
    return f"{lesson.wins}/{lesson.uses}" if lesson.uses else "-"


def _event(event: Event) -> str:
    if event.kind in ("correction", "thanks"):
        return f"{event.kind}: {event.text!r}"
    if event.kind == "outcome":
        return f"a turn went {'well' if event.value else 'badly'}: {event.text}"
    facts = facts_of(event)
    return f"a turn with {facts.get('calls', 0)} calls, {facts.get('failed', 0)} of which failed"


def _when(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))
