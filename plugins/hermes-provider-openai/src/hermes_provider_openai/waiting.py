"""How long a provider asks us to wait."""

import math
import re
import time
from collections.abc import Mapping

__all__ = ["seconds_to_wait"]

_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_IN_TEXT = re.compile(
    r"(?:try again|retry|wait)[^.\d]{0,40}?(\d+(?:\.\d+)?)\s*(ms|milliseconds?|s\b|sec\w*|m\b|min\w*)", re.IGNORECASE
)
_RESETS = (
    "x-ratelimit-reset",
    "ratelimit-reset",
    "x-ratelimit-reset-requests",
    "x-ratelimit-reset-tokens",
    "x-ratelimit-reset-after",
)


def seconds_to_wait(headers: Mapping[str, str], body: str = "") -> float | None:
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
    if found := _IN_TEXT.search(body[:4000]):
        unit = found.group(2).lower()
        scale = 0.001 if unit.startswith("mil") or unit == "ms" else 60.0 if unit.startswith("m") else 1.0
        return float(found.group(1)) * scale
    return None


def _spent(headers: Mapping[str, str], name: str) -> bool:
    # Of several limits only the one that is used up says how long to wait.
    left = _number(headers.get(name.replace("-reset", "-remaining"), ""))
    return left is None or left <= 0


def _duration(value: str) -> float | None:
    value = value.strip()
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
