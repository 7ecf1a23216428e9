"""Hours of a week, in a time zone."""

import re
from collections.abc import Iterable
from datetime import datetime, tzinfo
from typing import NamedTuple

from hermes_core.patterns import pattern

__all__ = ["Span", "hours_of", "midnight", "within", "zone_of"]

_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_DAY = "|".join(_DAYS)
_SPAN = pattern(
    rf"(?:(?P<days>(?:{_DAY})(?:-(?:{_DAY}))?(?:,(?:{_DAY})(?:-(?:{_DAY}))?)*) +)?"
    r"(?P<h>[01]?\d|2[0-3]):(?P<m>[0-5]\d)-(?P<H>[01]?\d|2[0-4]):(?P<M>[0-5]\d)",
    re.IGNORECASE,
)


class Span(NamedTuple):
    """Minutes of some days, from ``begin`` to before ``end``; an end that is not later lies on the next day."""

    days: frozenset[int]
    begin: int
    end: int


def zone_of(name: str) -> tzinfo | None:
    """The time zone of a name, None for this machine's. Raises ValueError."""
    if not name:
        return None
    from zoneinfo import ZoneInfo  # most roles name none

    try:
        return ZoneInfo(name)
    except (OSError, ValueError) as error:  # also what leads out of the folder of zones
        raise ValueError(f"{name!r} is no time zone: write one like Europe/Berlin") from error


def hours_of(words: Iterable[str]) -> tuple[Span, ...]:
    """What words say of a week. Raises ValueError."""
    return tuple(map(_span, words))


def _span(words: str) -> Span:
    match = _SPAN.fullmatch(words.strip())
    end = int(match["H"]) * 60 + int(match["M"]) if match else 0
    if not match or end > 24 * 60:
        raise ValueError(f"{words!r} are no hours: write Mon-Fri 15:00-19:30, or 07:00-21:00")
    days: set[int] = set()
    for part in (match["days"] or "mon-sun").lower().split(","):
        first, _, last = part.partition("-")
        begin = _DAYS.index(first)
        days.update((begin + more) % 7 for more in range((_DAYS.index(last or first) - begin) % 7 + 1))
    return Span(frozenset(days), int(match["h"]) * 60 + int(match["m"]), end)


def within(spans: Iterable[Span], moment: datetime) -> bool:
    """Whether a moment is in one of them; where there are none it is always."""
    spans, today, minute = tuple(spans), moment.weekday(), moment.hour * 60 + moment.minute
    yesterday = (today - 1) % 7
    for days, begin, end in spans:
        if begin < end:
            inside = today in days and begin <= minute < end
        else:
            inside = (today in days and minute >= begin) or (yesterday in days and minute < end)
        if inside:
            return True
    return not spans


def midnight(moment: datetime) -> float:
    """When the day of a moment began."""
    return moment.replace(hour=0, minute=0, second=0, microsecond=0).timestamp()
