"""When a job is due: what a person writes, and the instants that it means."""

import os
import re
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from zoneinfo import ZoneInfo

from hermes_core.errors import UserError
from hermes_core.values import frozen

__all__ = ["Schedule", "local_zone", "parse", "shown", "zone_of"]

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_WORDS = {"sec": "s", "second": "s", "min": "m", "minute": "m", "hour": "h", "hr": "h", "day": "d", "week": "w"}
_PIECE = re.compile(r"(\d{1,9})\s*([a-z]+?)s?(?![a-z])")
_CLOCK = re.compile(r"every\s+([a-z,\s-]+?)\s+at\s+(\d{1,2})(?::(\d{2}))?")
_SAME = re.compile(r"\b(\w+)-\1/\d+\b")  # one value, whatever the step; cronsim takes it for the first of more
_NAMED = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
_DAYS = {"day": "*", "weekday": "mon-fri", "weekend": "sat,sun"}
_NAMES = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_LEAST = 60  # seconds between two instants
_MOST = 10 * 366 * 86_400  # seconds of a delay or a period
_HINT = (
    "Write 30m or 2026-12-24T18:00 for once, every 2h, every weekday at 08:00, or five fields of cron as '0 8 * * 1-5'."
)


@frozen(kw_only=True)
class Schedule:
    """When something is due, in seconds since 1970. ``kind`` is once, every or cron.

    Once it is ``at``; every ``seconds`` from ``at`` on; or as ``cron`` says in ``zone``, over changes of clocks as the
    cron of Debian does: what would fall into the hour that is left out runs right after it, what falls into the hour
    that comes twice runs once, and what runs every hour or oftener goes by the hours that really pass.
    """

    kind: str
    zone: str
    at: float = 0.0
    seconds: int = 0
    cron: str = ""

    def after(self, instant: float) -> float:
        """Return the first instant that is later; 0 where none is."""
        if self.kind == "once":
            return self.at if self.at > instant else 0.0
        if self.kind == "every":
            passed = int((instant - self.at) // self.seconds)
            return self.at + (max(passed, 0) + 1) * self.seconds
        return self._cron(instant)

    def _cron(self, instant: float) -> float:
        """Return the first later instant of the expression; 0 where none is in fifty years."""
        from cronsim import CronSim

        zone = ZoneInfo(self.zone)
        fields = self.cron.split()
        if fields[0].startswith("*") or fields[1].startswith("*"):
            return _shown_next(self.cron, zone, instant)
        for found in CronSim(self.cron, datetime.fromtimestamp(instant, zone)):
            # Two times that a change of clocks brings together are one; and one of the hour that comes twice is over.
            if (moment := found.timestamp()) > instant:
                return moment
        return 0.0

    def following(self, instant: float, count: int) -> list[float]:
        """Return the next instants, at most so many."""
        found: list[float] = []
        while len(found) < count and (instant := self.after(instant)):
            found.append(instant)
        return found

    def period(self, instant: float) -> float:
        """Return the seconds between an instant and the one that follows; 0 where none does."""
        return max(0.0, self.after(instant) - instant) if self.kind != "once" else 0.0


def _shown_next(cron: str, zone: ZoneInfo, instant: float) -> float:
    """Return the first later instant at which the clock shows a time of the expression.

    The clock is taken for one that does not change, up to where it does: there it is looked at anew. So an hour that
    comes twice counts twice, and one that is left out does not count, by however many minutes the clocks change.
    """
    from cronsim import CronSim

    while True:
        offset = _offset(zone, instant)
        found = next(CronSim(cron, datetime.fromtimestamp(instant + offset, UTC).replace(tzinfo=None)), None)
        if found is None:
            return 0.0
        moment = found.replace(tzinfo=UTC).timestamp() - offset
        if _offset(zone, moment) == offset:
            return moment
        before, after = int(instant), int(moment)
        while after - before > 1:
            middle = (before + after) // 2
            before, after = (middle, after) if _offset(zone, middle) == offset else (before, middle)
        # From a second before the change on, in the time of after it.
        changed = _offset(zone, after) - offset
        found = next(CronSim(cron, datetime.fromtimestamp(before + offset + changed, UTC).replace(tzinfo=None)), None)
        if found is None:
            return 0.0
        moment = found.replace(tzinfo=UTC).timestamp() - offset - changed
        if _offset(zone, moment) == offset + changed:
            return moment
        instant = float(after)


def _offset(zone: ZoneInfo, instant: float) -> float:
    found = datetime.fromtimestamp(instant, zone).utcoffset()
    return found.total_seconds() if found else 0.0


@lru_cache(maxsize=20_000)
def parse(text: str, zone: str, now: float) -> Schedule:
    """Return what a person wrote as a schedule, which counts from ``now``. Raises UserError."""
    said = " ".join(text.split())
    low = said.lower()
    zone_of(zone)
    if len(text.strip().splitlines()) > 1:
        raise UserError("A schedule is one line, and that has several.", hint=_HINT)
    if not said or len(said) > 200:
        raise UserError("There is no schedule in that." if not said else "That schedule is too long.", hint=_HINT)
    if clock := _CLOCK.fullmatch(low):
        return _checked(_clock(clock, said), zone, said, now)
    if low.startswith("every "):
        seconds = _seconds(low.removeprefix("every "), said)
        if seconds < _LEAST:
            raise UserError(f"{said!r} is too often: a minute is the least.", hint=_HINT)
        return Schedule(kind="every", zone=zone, at=now, seconds=seconds)
    if low in _NAMED:
        return Schedule(kind="cron", zone=zone, cron=_NAMED[low])
    if len(low.split()) == 5 and not low.startswith("in "):
        return _checked(said, zone, said, now)
    if re.match(r"\d{4}-\d", low):
        return Schedule(kind="once", zone=zone, at=_moment(said, zone, now))
    return Schedule(kind="once", zone=zone, at=now + _seconds(low.removeprefix("in "), said))


def _checked(cron: str, zone: str, said: str, now: float) -> Schedule:
    """Return a cron expression that has an instant. Raises UserError."""
    from cronsim import CronSim, CronSimError

    cron = _SAME.sub(r"\1", cron)
    try:
        CronSim(cron, datetime.fromtimestamp(now, UTC))
    except CronSimError as error:
        raise UserError(
            f"The schedule {said!r} cannot be read: {str(error)[:1].lower()}{str(error)[1:]}.", hint=_HINT
        ) from None
    made = Schedule(kind="cron", zone=zone, cron=cron)
    if not made.after(now):
        raise UserError(f"The schedule {said!r} has no instant in fifty years.", hint=_HINT)
    return made


def _clock(found: re.Match[str], said: str) -> str:
    """Return ``every monday, friday at 9`` as cron says it. Raises UserError."""
    hour, minute = int(found[2]), int(found[3] or 0)
    if hour > 23 or minute > 59:
        raise UserError(f"{said!r} has no such time of day.", hint=_HINT)
    days = []
    for word in filter(None, re.split(r"[\s,]+(?:and\s+)?", found[1])):
        day = _DAYS.get(word.removesuffix("s"), _DAYS.get(word)) or (word[:3] if word[:3] in _NAMES else "")
        if not day:
            raise UserError(f"{word!r} in {said!r} is no day.", hint=_HINT)
        days.append(day)
    return f"{minute} {hour} * * {'*' if '*' in days else ','.join(days)}"


def _seconds(low: str, said: str) -> int:
    """Return what ``1h30m`` or ``2 hours`` is. Raises UserError."""
    low = re.sub(r"\s+(?:and\s+)?", "", low)
    if re.fullmatch("[a-z]+", low):
        low = f"1{low}"
    total, place = 0, 0
    while place < len(low):
        piece = _PIECE.match(low, place)
        unit = _WORDS.get(piece[2], piece[2]) if piece else ""
        if piece is None or unit not in _UNITS:
            raise UserError(f"The schedule {said!r} cannot be read.", hint=_HINT)
        total, place = total + int(piece[1]) * _UNITS[unit], piece.end()
    if not 0 < total <= _MOST:
        raise UserError(f"{said!r} is {'no time' if not total else 'too far away'}.", hint=_HINT)
    return total


def _moment(said: str, zone: str, now: float) -> float:
    """Return an ISO timestamp, which without a zone of its own is in that of the schedule. Raises UserError."""
    try:
        moment = datetime.fromisoformat(said)
    except ValueError:
        raise UserError(f"{said!r} is no timestamp.", hint="Write it as 2026-12-24T18:00.") from None
    instant = (moment if moment.tzinfo else moment.replace(tzinfo=ZoneInfo(zone))).timestamp()
    if instant <= now:
        raise UserError(f"{said} is over: it is {shown(now, zone)}.")
    if instant - now > 10 * _MOST:
        raise UserError(f"{said} is too far away.")
    return float(int(instant))


def zone_of(name: str) -> ZoneInfo:
    """Return a time zone by its name. Raises UserError."""
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):
        raise UserError(f"There is no time zone {name!r}.", hint="Name one as Europe/Berlin or UTC.") from None


def local_zone() -> str:
    """Return the name of this machine's time zone, UTC where it says none."""
    said = os.environ.get("TZ", "").lstrip(":")
    for name in (said, _linked()):
        try:
            if name:
                return zone_of(name).key
        except UserError:
            continue
    return "UTC"


def _linked() -> str:
    try:
        return str(Path("/etc/localtime").resolve()).partition("zoneinfo/")[2]
    except OSError:
        return ""


def shown(instant: float, zone: str, *, year: bool = False) -> str:
    """Say an instant as its clock shows it: ``Mon 24 Dec 08:00``."""
    if not instant:
        return ""
    moment = datetime.fromtimestamp(instant, ZoneInfo(zone))
    return moment.strftime("%a %d %b %Y %H:%M %Z" if year else "%a %d %b %H:%M")
