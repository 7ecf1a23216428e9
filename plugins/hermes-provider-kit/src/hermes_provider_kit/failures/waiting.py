"""How long a provider asks us to wait."""

import math
import re
import time
from collections.abc import Mapping

__all__ = ["used_up", "wait_in"]

_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_IN_TEXT = re.compile(
    r"(?:try again|retry|wait|reset)[^.\d]{0,40}?((?:\d+(?:\.\d+)?\s*"
    r"(?:ms|milliseconds?|s|sec\w*|m|min\w*|h|hours?|d|days?)(?![a-z])[\s,]*(?:and )?)+)",
    re.IGNORECASE,
)
_AMOUNT = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|mil|s|m|h|d)", re.IGNORECASE)
_IN_FIELD = re.compile(
    r'"(?:retry_?after(?:_?seconds)?|resets_in_seconds|retryDelay|estimated_time)"\s*:\s*"?(\d+(?:\.\d+)?)',
    re.IGNORECASE,
)
_INSTANT = re.compile(r'"(?:x-ratelimit-reset|resets?_?at)"\s*:\s*"?(\d{10,13})\b', re.IGNORECASE)
_DATE = re.compile(
    r"(?:until|regain access on|resets? (?:on|at)) (\d{4}-\d\d-\d\d)(?:T| at | )(\d\d:\d\d(?::\d\d)?) ?(?:UTC|Z)"
)
_RESETS = (
    "x-ratelimit-reset",
    "ratelimit-reset",
    "x-ratelimit-reset-requests",
    "x-ratelimit-reset-tokens",
    "x-ratelimit-reset-after",
)


def wait_in(headers: Mapping[str, str], body: str = "") -> float | None:
    """Seconds until asking again makes sense, or None when nothing says so. ``headers`` are in lower case."""
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    if (after := _duration(headers.get("retry-after", ""))) is not None:
        return after
    resets = [_duration(headers[name]) for name in _RESETS if name in headers and _spent(headers, name)]
    known = [seconds for seconds in resets if seconds is not None]
    if known:
        return max(known)
    return _number(str(_in_body(body[:8000])))


def used_up(headers: Mapping[str, str]) -> float | None:
    """Seconds until a limit is over that an answer used up; None where each has something left, or nothing is said.

    ``headers`` are in lower case.
    """
    over = [name for name in _RESETS if name in headers and name.replace("-reset", "-remaining") in headers]
    known = [_duration(headers[name]) for name in over if _spent(headers, name)]
    return max((seconds for seconds in known if seconds is not None), default=None)


def _in_body(body: str) -> float | None:
    if found := _INSTANT.search(body):
        return _duration(found[1])
    if found := _IN_FIELD.search(body):
        return float(found[1])
    if found := _DATE.search(body):
        return _from_date(f"{found[1]}T{found[2]}+00:00")
    if found := _IN_TEXT.search(body):
        return sum(
            float(n) * _UNITS["ms" if unit.lower() == "mil" else unit.lower()] for n, unit in _AMOUNT.findall(found[1])
        )
    return None


def _spent(headers: Mapping[str, str], name: str) -> bool:
    # Of several limits only the one that is used up says how long to wait.
    left = _number(headers.get(name.replace("-reset", "-remaining"), ""))
    return left is None or left <= 0


def _duration(value: str) -> float | None:
    value = value.strip() if len(value) < 200 else ""
    number = _number(value)
    if number is not None:
        if number > 1e11:  # an instant in milliseconds
            number /= 1000
        if number > 1e9:  # an instant in seconds
            number = max(number - time.time(), 0.0)
        return number
    parts = _PART.findall(value.lower())
    if parts and "".join(n + u for n, u in parts) == value.lower():
        return sum(float(n) * _UNITS[u] for n, u in parts)
    return _from_date(value)


def _from_date(value: str) -> float | None:
    if not value:
        return None
    from datetime import UTC, datetime
    from email.utils import parsedate_to_datetime

    for read in (parsedate_to_datetime, datetime.fromisoformat):
        try:
            moment = read(value)
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return max(moment.timestamp() - time.time(), 0.0)
    return None


def _number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None
