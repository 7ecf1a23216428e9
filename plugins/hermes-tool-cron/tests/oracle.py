"""Instants of a cron expression by looking at every minute: slow, and written from the words of the manual alone."""

from collections.abc import Callable
from datetime import datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

_RANGES = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))


def values(field: str, low: int, high: int) -> set[int]:
    """The numbers that a field means."""
    found: set[int] = set()
    for term in field.split(","):
        span, _, step = term.partition("/")
        if span == "*":
            first, last = low, high
        elif "-" in span:
            first, last = map(int, span.split("-"))
        else:
            first = int(span)
            last = high if step else first
        found |= set(range(first, last + 1, int(step or 1)))
    return found


def meant(expression: str) -> Callable[[datetime], bool]:
    """Whether a time of some clock is one that the expression means."""
    fields = expression.split()
    minute, hour, day, month, weekday = (values(field, *bounds) for field, bounds in zip(fields, _RANGES, strict=True))
    weekday = {one % 7 for one in weekday}
    starred = fields[2].startswith("*") or fields[4].startswith("*")

    def matches(moment: datetime) -> bool:
        if moment.minute not in minute or moment.hour not in hour or moment.month not in month:
            return False
        on_day, on_weekday = moment.day in day, moment.isoweekday() % 7 in weekday
        return (on_day and on_weekday) if starred else (on_day or on_weekday)

    return matches


@lru_cache
def clock(zone: str, start: float, end: float) -> list[tuple[float, datetime]]:
    """Each minute of a time and a day on both sides, with what the clock shows."""
    place, day = ZoneInfo(zone), 86_400
    minutes = [start - day + 60 * number for number in range(int((end - start + 2 * day) // 60))]
    return [(instant, datetime.fromtimestamp(instant, place).replace(tzinfo=None)) for instant in minutes]


@lru_cache
def firsts(zone: str, start: float, end: float) -> dict[datetime, float]:
    """When the clock first shows each time."""
    first: dict[datetime, float] = {}
    for instant, moment in clock(zone, start, end):
        first.setdefault(moment, instant)
    return first


def instants(expression: str, zone: str, start: float, end: float) -> list[float]:
    """Each instant later than ``start``, up to ``end``; both are whole minutes.

    What runs every hour or oftener goes by the clock as it is shown. What has an hour of its own runs once for each
    time that it means: where no clock shows that, in the first minute that one does; where two do, in the first.
    """
    shown, fields, matches = clock(zone, start, end), expression.split(), meant(expression)
    if fields[0].startswith("*") or fields[1].startswith("*"):
        return [instant for instant, moment in shown if start < instant <= end and matches(moment)]
    first = firsts(zone, start, end)
    found = set()
    hours, minutes = values(fields[1], 0, 23), values(fields[0], 0, 59)
    day, last = min(first).date(), max(first)
    while day <= last.date():
        for hour in hours:
            for minute in minutes:
                moment = datetime.combine(day, time(hour, minute))
                if matches(moment) and moment <= last:
                    while moment not in first and moment <= last:
                        moment += timedelta(minutes=1)
                    found.add(first.get(moment, 0.0))
        day += timedelta(days=1)
    return sorted(one for one in found if start < one <= end)
