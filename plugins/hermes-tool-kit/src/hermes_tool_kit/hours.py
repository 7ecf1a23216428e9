"""When quiet hours end: on the clock of a time zone, over midnight, and over the nights in which a clock is changed."""

import re
from datetime import datetime, time, tzinfo
from zoneinfo import ZoneInfo

from hermes_core.errors import UserError

__all__ = ["parse_hours", "quiet_end", "quiet_until", "zone_of"]

_SPAN = re.compile(r"(\d{1,2})(?::(\d\d))?\s*(?:-|–|to|until)\s*(\d{1,2})(?::(\d\d))?", re.IGNORECASE)


def parse_hours(text: str) -> tuple[str, str]:
    """Read ``22:00-07:00`` or ``22-7``; both ends as ``HH:MM``. Raises UserError."""
    found = _SPAN.fullmatch(text.strip())
    ends = [(int(found[n]), int(found[n + 1] or 0)) for n in (1, 3)] if found else []
    if not found or any(hour > 23 or minute > 59 for hour, minute in ends) or ends[0] == ends[1]:
        raise UserError(f"{text!r} says no hours.", hint="Say from when until when: 22:00-07:00")
    begins, over = (f"{hour:02}:{minute:02}" for hour, minute in ends)
    return begins, over


def zone_of(name: str) -> tzinfo | None:
    """The time zone of a name; None, which is this machine's, for an empty one. Raises UserError."""
    if not name:
        return None
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        hint = "Use the name of a city, as Europe/Berlin; nothing is the zone of this machine."
        raise UserError(f"There is no time zone named {name!r}.", hint=hint) from None


def quiet_until(begins: str, ends: str, zone: str, now: float) -> float:
    """When the quiet hours end in which an instant lies; 0 when it lies in none. Instants are seconds since 1970.

    What the clock on the wall shows counts, also in a night in which it is changed.
    """
    try:
        there = zone_of(zone)
    except UserError:  # a zone that this machine does not know any more
        there = None
    first, last = (_minutes(time.fromisoformat(one)) for one in (begins, ends))

    def quiet(instant: float) -> bool:
        shown = _minutes(datetime.fromtimestamp(instant, there).time())
        return first <= shown < last if first < last else shown >= first or shown < last

    if not quiet(now):
        return 0.0
    end = now - now % 60 + 60
    while quiet(end):
        end += 60
    return end


def quiet_end(text: str, now: float) -> float:
    """When quiet hours that are written ``22:00-07:00 Europe/Berlin`` end; 0 outside of them. Raises UserError."""
    hours, _, zone = text.strip().partition(" ")
    begins, ends = parse_hours(hours)
    return quiet_until(begins, ends, zone.strip(), now)


def _minutes(at: time) -> int:
    return at.hour * 60 + at.minute
