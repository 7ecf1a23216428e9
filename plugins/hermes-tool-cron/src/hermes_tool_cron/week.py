"""The calendar in the full screen: ``/cron calendar``, what ran on the days before and what runs on those to come."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from hermes_core.errors import UnknownName, UserError
from hermes_tool_cron.values import OPEN, Job, Run
from hermes_tool_kit.screens import Card, Column, Key, Picture, Screen, Tone

if TYPE_CHECKING:
    from hermes_core.context import PluginContext
    from hermes_tool_cron.actions import Door

__all__ = ["CalendarScreen"]

_BEFORE, _AFTER = 6, 8  # days that are shown before today, and from today on
_MOST = 2000  # runs of the past days that are read, the last of them
_TONES: Mapping[str, Tone] = {
    "done": "good", "silent": "quiet", "failed": "bad", "interrupted": "bad", "refused": "bad", "missed": "waits",
    "coalesced": "quiet", "skipped": "quiet", **dict.fromkeys(OPEN, "busy"),
}  # fmt: skip
_STATES = ("paused", "proposed")  # of jobs that no day has


class CalendarScreen(Screen):
    """The jobs of whose Hermes it is, by days of one clock. It is drawn anew only where a job or a run changed."""

    name = "calendar"
    title = "Schedules"
    every = 2.0
    keys = (
        Key(key="r", does="run now", sure="Run it now, beside its times?"),
        Key(key="p", does="pause"),
        Key(key="u", does="resume"),
        Key(key="a", does="accept"),
        Key(key="d", does="dismiss", sure="Want none of it?"),
        Key(key="x", does="remove", sure="Remove the job, with its history?"),
    )

    def __init__(self, ctx: "PluginContext") -> None:
        self._ctx = ctx
        self._seen: tuple[object, ...] = ()
        self._picture = Picture(columns=())

    def _door(self) -> "Door":
        from hermes_tool_cron.actions import Door

        return Door(self._ctx, self._ctx.owner, written=True)

    async def picture(self) -> Picture:
        from hermes_tool_cron.playing import config_of
        from hermes_tool_cron.schedule import local_zone

        door = self._door()
        zone = ZoneInfo(config_of(self._ctx).zone or local_zone())
        jobs, now = await door.rows.list(door.owner.person), await door.rows.now()
        today = datetime.fromtimestamp(now, zone).date()
        begin = datetime.combine(today - timedelta(days=_BEFORE), datetime.min.time(), zone).timestamp()
        runs = (await door.rows.runs(door.owner.person, limit=_MOST, since=begin))[::-1]
        seen = (today, [(one.id, one.number) for one in jobs], [(one.id, one.state) for one in runs])
        if seen != self._seen:  # in a thread: a job of every minute has thousands of instants
            note = "" if await door.rows.clocks() else "nothing runs jobs now"
            self._picture = await asyncio.to_thread(_picture, jobs, runs, now, zone, note)
            self._seen = seen if not note else ()
        return self._picture

    async def about(self, card: str) -> str:
        from hermes_tool_cron.words import about, run_line

        door, (kind, name, _) = self._door(), _parts(card)
        if kind == "run":
            run = await _run(door, name)
            said = [("run", f"{run.id}, {run.state}"), ("why", run.why), ("session", run.session),
                    ("delivery", run.delivery), ("said", run.said), ("answer", run.shown or run.answer)]  # fmt: skip
            return "\n".join(f"{head:<9} {text}" for head, text in said if text)
        job = await self._job(door, card)
        runs = [run_line(one, job.zone) for one in await door.rows.runs(door.owner.person, job.id, 20)]
        return "\n".join([about(job), "", "history", *(f"  {one}" for one in runs or ["nothing ran yet"])])

    async def press(self, key: str, card: str, text: str = "") -> str:
        from hermes_tool_cron import actions
        from hermes_tool_cron.words import next_of

        door = self._door()
        job = await self._job(door, card)
        if key == "r":
            await actions.run_now(door, job)
            waits = "" if await door.rows.clocks() else " Nothing runs jobs now: it runs when a gateway does."
            return f"{job.name} is to run now.{waits}"
        if key == "d":
            return f"{(await actions.dismiss(door, job.id)).name}: not wanted."
        if key == "x":
            await actions.remove(door, job)
            return f"{job.name} is gone, with its history."
        if key == "a":
            made = await actions.accept(door, job.id)
        else:
            made = await (actions.pause if key == "p" else actions.resume)(door, job)
        return f"{made.name}: {next_of(made)}"

    async def _job(self, door: "Door", card: str) -> Job:
        from hermes_tool_cron.actions import find

        kind, name, _ = _parts(card)
        return await find(door, (await _run(door, name)).job if kind == "run" else name, proposed=True)


async def _run(door: "Door", run: str) -> Run:
    for one in await door.rows.these([run]):
        if one.person == door.owner.person:
            return one
    raise UnknownName("run", run, ())


def _parts(card: str) -> tuple[str, str, str]:
    """Return what a card is of: a run or a job, its id, and which of them."""
    kind, name, which = (*card.split("\n"), "", "")[:3]
    return kind, name, which


def _picture(jobs: Sequence[Job], runs: Sequence[Run], now: float, zone: ZoneInfo, note: str) -> Picture:
    from hermes_tool_cron.calendar import entries_of

    today = datetime.fromtimestamp(now, zone).date()
    cards: dict[date, list[Card]] = {today + timedelta(days=n): [] for n in range(-_BEFORE, _AFTER)}
    zones = {one.id: ZoneInfo(one.zone) for one in jobs}
    for day, card in _ran(runs, zone):
        cards.setdefault(day, []).append(card)
    broken: list[str] = []
    for job in jobs:
        if job.state != "active":
            continue
        try:
            days = list(entries_of([job], now, _AFTER, zone))
        except UserError:  # its zone or its schedule is none any more
            broken.append(job.name)
            continue
        for day, entries in days:
            for one in entries:
                own = one.clock(zones[job.id])
                there = one.clock(zone)
                often = f"{one.times} times" if one.times > 1 else ""
                how = " · ".join(filter(None, (often, f"{own} there" if own != there else "", job.schedule)))
                cards[day].append(Card(id=f"job\n{job.id}\n{one.first}", title=f"{there} {job.name}", note=how))
    columns = [
        Column(id=day.isoformat(), title=_head(day, today), cards=sorted(there, key=_order),
               tone="busy" if day == today else "quiet" if day < today else "")
        for day, there in sorted(cards.items())
    ]  # fmt: skip
    said = [note, f"{', '.join(broken)}: the schedule is none" if broken else ""]
    for state in _STATES:
        if mine := [one for one in jobs if one.state == state]:
            of = [Card(id=f"job\n{one.id}", title=one.name, note=one.why or one.schedule, tone="waits") for one in mine]
            columns.append(Column(id=state, title=state, cards=of, tone="waits"))
            said.append(f"{len(mine)} {state}, on the right")
    return Picture(columns=columns, note=" · ".join(filter(None, said)), at=today.isoformat())


def _head(day: date, today: date) -> str:
    return f"{'Today' if day == today else day.strftime('%a')} {day.day} {day.strftime('%b')}"


def _order(card: Card) -> tuple[bool, str]:
    return _parts(card.id)[0] != "run", card.title  # what ran comes first; then by the clock


def _ran(runs: Sequence[Run], zone: ZoneInfo) -> Iterator[tuple[date, Card]]:
    """Yield what ran, with its day; a job that ran often on a day has one card for each way that ended."""
    from hermes_tool_cron.calendar import OFTEN

    by: dict[tuple[date, str], list[Run]] = {}
    for run in runs:
        by.setdefault((datetime.fromtimestamp(run.due, zone).date(), run.job), []).append(run)
    for (day, _), there in by.items():
        groups: dict[str, list[Run]] = {}
        for run in there:
            groups.setdefault(run.state if len(there) > OFTEN else run.id, []).append(run)
        for group in groups.values():
            last = group[-1]
            many = f"{len(group)} × " if len(group) > 1 else ""
            at = datetime.fromtimestamp(group[0].due, zone).strftime("%H:%M")
            said = f"{many}{last.state}{f': {last.why}' if last.why else ''}"
            yield day, Card(id=f"run\n{last.id}", title=f"{at} {last.name}", note=said, tone=_TONES.get(last.state, ""))
