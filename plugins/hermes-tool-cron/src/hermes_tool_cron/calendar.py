"""What runs when, by days of one clock."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import takewhile
from zoneinfo import ZoneInfo

from hermes_tool_cron.advance import schedule_of
from hermes_tool_cron.values import Job
from hermes_tool_cron.words import runs_how

__all__ = ["days_of"]

_OFTEN = 4  # instants of a day from which on a job has one line
_MOST = 20_000  # instants of one job that are looked at


def days_of(
    jobs: Iterable[Job], now: float, days: int, zone: str
) -> Iterator[tuple[str, Sequence[tuple[str, str, str]]]]:
    """Yield each day with its rows: when, which job, and what it does."""
    clock = ZoneInfo(zone)
    today = datetime.fromtimestamp(now, clock).date()
    end = datetime.combine(today + timedelta(days=days), datetime.min.time(), clock).timestamp()
    by_day: dict[str, list[tuple[float, Job, int, float]]] = {}
    for job in jobs:
        for day, found in _days(job, end, clock):
            if len(found) > _OFTEN:
                by_day.setdefault(day, []).append((found[0], job, len(found), found[-1]))
            else:
                by_day.setdefault(day, []).extend((instant, job, 1, instant) for instant in found)
    for number in range(days):
        date = today + timedelta(days=number)
        rows = sorted(by_day.get(date.isoformat(), ()), key=lambda one: (one[0], one[1].name))
        yield date.strftime("%A %d %B"), [_row(*one, clock) for one in rows]


def _days(job: Job, end: float, clock: ZoneInfo) -> Iterator[tuple[str, list[float]]]:
    found: dict[str, list[float]] = {}
    for instant in takewhile(lambda one: one < end, _instants(job)):
        found.setdefault(datetime.fromtimestamp(instant, clock).date().isoformat(), []).append(instant)
    yield from found.items()


def _instants(job: Job) -> Iterator[float]:
    schedule, instant = schedule_of(job), job.due
    most = min(_MOST, job.options.repeat - job.fired) if job.options.repeat else _MOST
    for _ in range(most):
        if not instant:
            return
        yield instant
        instant = schedule.after(instant)


def _row(first: float, job: Job, count: int, last: float, clock: ZoneInfo) -> tuple[str, str, str]:
    at = datetime.fromtimestamp(first, clock).strftime("%H:%M")
    what = " ".join(runs_how(job).split())[:60]
    if count == 1:
        return at, job.name, what
    return f"{at} – {datetime.fromtimestamp(last, clock):%H:%M}", job.name, f"{count} times · {what}"
