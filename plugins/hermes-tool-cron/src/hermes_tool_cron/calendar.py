"""What runs when, by days of one clock."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, timedelta
from itertools import takewhile
from typing import NamedTuple
from zoneinfo import ZoneInfo

from hermes_tool_cron.advance import schedule_of
from hermes_tool_cron.values import Job
from hermes_tool_cron.words import runs_how

__all__ = ["OFTEN", "Entry", "days_of", "entries_of"]

OFTEN = 4  # instants of a day from which on a job has one line
_MOST = 20_000  # instants of one job that are looked at


class Entry(NamedTuple):
    """A line of a day: a job that runs so many ``times``, between its first and its last instant then."""

    first: float
    job: Job
    times: int
    last: float

    def clock(self, zone: ZoneInfo) -> str:
        """Say when that is."""
        at = datetime.fromtimestamp(self.first, zone).strftime("%H:%M")
        return at if self.times == 1 else f"{at} – {datetime.fromtimestamp(self.last, zone):%H:%M}"


def entries_of(jobs: Iterable[Job], now: float, days: int, zone: ZoneInfo) -> Iterator[tuple[date, Sequence[Entry]]]:
    """Yield each day from today on, with what runs then, the earliest first."""
    today = datetime.fromtimestamp(now, zone).date()
    end = datetime.combine(today + timedelta(days=days), datetime.min.time(), zone).timestamp()
    by_day: dict[date, list[Entry]] = {}
    for job in jobs:
        for day, found in _days(job, end, zone):
            if len(found) > OFTEN:
                by_day.setdefault(day, []).append(Entry(found[0], job, len(found), found[-1]))
            else:
                by_day.setdefault(day, []).extend(Entry(instant, job, 1, instant) for instant in found)
    for number in range(days):
        day = today + timedelta(days=number)
        yield day, sorted(by_day.get(day, ()), key=lambda one: (one.first, one.job.name))


def days_of(
    jobs: Iterable[Job], now: float, days: int, zone: str
) -> Iterator[tuple[str, Sequence[tuple[str, str, str]]]]:
    """Yield each day with its rows: when, which job, and what it does."""
    clock = ZoneInfo(zone)
    for day, entries in entries_of(jobs, now, days, clock):
        yield day.strftime("%A %d %B"), [_row(one, clock) for one in entries]


def _days(job: Job, end: float, clock: ZoneInfo) -> Iterator[tuple[date, list[float]]]:
    found: dict[date, list[float]] = {}
    for instant in takewhile(lambda one: one < end, _instants(job)):
        found.setdefault(datetime.fromtimestamp(instant, clock).date(), []).append(instant)
    yield from found.items()


def _instants(job: Job) -> Iterator[float]:
    schedule, instant = schedule_of(job), job.due
    most = min(_MOST, job.options.repeat - job.fired) if job.options.repeat else _MOST
    for _ in range(most):
        if not instant:
            return
        yield instant
        instant = schedule.after(instant)


def _row(entry: Entry, clock: ZoneInfo) -> tuple[str, str, str]:
    what = " ".join(runs_how(entry.job).split())[:60]
    often = f"{entry.times} times · " if entry.times > 1 else ""
    return entry.clock(clock), entry.job.name, f"{often}{what}"
