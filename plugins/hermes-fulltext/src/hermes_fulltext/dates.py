"""Times as people name them: "last week", "on Tuesday", "in March 2024", "어제", "先週", "上周".

What is meant is the time at which something was said, on the clock of the machine, counted back from now.
"""

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

__all__ = ["Named", "named_time"]

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july", "august"),
    *("september", "october", "november", "december"),
)
_COUNTED = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "couple of": 2, "few": 3}
_UNITS = {"day": 1, "week": 7, "fortnight": 14, "month": 30, "year": 365}
_FAR = {"day": 0, "week": 4, "fortnight": 4, "month": 15, "year": 180}  # how far off "ago" may be, in days
_DAY = timedelta(days=1)
# (this, last, the one before) of a day, a week, a month and a year, where they have words of their own.
_CJK: Mapping[str, tuple[str, int]] = {
    **dict.fromkeys(("오늘", "今日", "今天"), ("day", 0)),
    **dict.fromkeys(("어제", "昨日", "昨天"), ("day", 1)),
    **dict.fromkeys(("그저께", "그제", "一昨日", "おととい", "前天"), ("day", 2)),
    **dict.fromkeys(("이번 주", "이번주", "今週", "这周", "这个星期", "本周", "這週"), ("week", 0)),
    **dict.fromkeys(
        ("지난주", "지난 주", "저번 주", "저번주", "先週", "上周", "上个星期", "上星期", "上週"), ("week", 1)
    ),
    **dict.fromkeys(("지지난주", "先々週", "上上周"), ("week", 2)),
    **dict.fromkeys(("이번 달", "이번달", "今月", "这个月", "本月"), ("month", 0)),
    **dict.fromkeys(("지난달", "지난 달", "저번 달", "先月", "上个月", "上月"), ("month", 1)),
    **dict.fromkeys(("올해", "今年"), ("year", 0)),
    **dict.fromkeys(("작년", "지난해", "昨年", "去年"), ("year", 1)),
}
_WEEKDAYS = (
    *("월요일 月曜 星期一 周一", "화요일 火曜 星期二 周二", "수요일 水曜 星期三 周三", "목요일 木曜 星期四 周四"),
    *("금요일 金曜 星期五 周五", "토요일 土曜 星期六 周六", "일요일 日曜 星期日 星期天 周日"),
)


class Named(NamedTuple):
    """A time that was named: from an instant until before another one, and the words of it in the text."""

    since: float
    until: float
    words: str


def named_time(text: str, now: float) -> Named | None:
    """Return the first time that a text names, the most exact there is; None where it names none."""
    today = datetime.fromtimestamp(now).date()  # noqa: DTZ006 - the person's clock
    for pattern, meant in _patterns():
        if (found := pattern.search(text)) and (span := meant(found, today)):
            first, after = (datetime(day.year, day.month, day.day).timestamp() for day in span)  # noqa: DTZ001
            return Named(first, after, found[0])
    return None


_Span = tuple[date, date] | None
_Meant = Callable[[re.Match[str], date], _Span]


@lru_cache(maxsize=1)
def _patterns() -> list[tuple[re.Pattern[str], _Meant]]:
    months = "|".join(f"{name}|{name[:3]}" for name in _MONTHS)
    days = "|".join(f"{name}s?|{name[:3]}" for name in _DAYS)
    counted = "|".join(_COUNTED)
    cjk = "|".join(sorted(_CJK, key=len, reverse=True))
    known: list[tuple[str, _Meant]] = [
        (r"\b(\d{4})-(\d{1,2})-(\d{1,2})\b", lambda m, _: _one(int(m[1]), int(m[2]), int(m[3]))),
        (r"(\d{4})\s?[년年]\s?(\d{1,2})\s?[월月]\s?(\d{1,2})\s?[일日号]", lambda m, _: _one(*map(int, m.groups()))),
        (
            rf"\b(?:on |the )*(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({months})\b\.?,?(?: (\d{{4}}))?",
            lambda m, t: _dated(m[1], m[2], m[3], t),
        ),
        (
            rf"\b(?:on )?({months})\b\.? (\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)(?:,? (\d{{4}}))?",
            lambda m, t: _dated(m[2], m[1], m[3], t),
        ),
        (r"\bday before yesterday\b", lambda _, t: _day(t - 2 * _DAY)),
        (r"\b(?:yesterday|last night)\b", lambda _, t: _day(t - _DAY)),
        (r"\b(?:today|this (?:morning|afternoon|evening)|tonight|earlier today)\b", lambda _, t: _day(t)),
        (
            rf"\b(?:about )?(\d{{1,3}}|{counted}) (day|week|fortnight|month|year)s? ago\b",
            lambda m, t: _ago(m[1], m[2], t),
        ),
        (
            rf"\b(?:in |over |during )?the (?:last|past) (\d{{1,3}}|{counted}) (day|week|month|year)s?\b",
            lambda m, t: (t - _count(m[1]) * _UNITS[m[2]] * _DAY, t + _DAY),
        ),
        (
            r"\b(?:in |over |during )?(this|last|past|previous)(?: the)? (week|month|year)\b",
            lambda m, t: _unit(m[2], 0 if m[1] == "this" else 1, t),
        ),
        (r"\b(?:this|last|past) weekend\b", lambda _, t: _weekend(t)),
        (rf"\b(?:on |last |this |past )+({days})\b", lambda m, t: _weekday(m[1][:3], t)),
        (rf"\b(?:in |during |last |back in )+({months})\b\.?(?:,? (\d{{4}}))?", lambda m, t: _month(m[1], m[2], t)),
        (r"\b(?:in|during|back in) ((?:19|20)\d\d)\b", lambda m, _: (date(int(m[1]), 1, 1), date(int(m[1]) + 1, 1, 1))),
        (rf"({cjk})", lambda m, t: _unit(*_CJK[m[1]], t)),
        (r"(\d{1,3})\s?(일|주일?|달|개월|년) 전|(\d{1,3})\s?(天|周|个月|年|日|週間|か月|ヶ月)前", _cjk_ago),
        (r"(?<!\d)(\d{1,2})\s?[월月]\s?(\d{1,2})\s?[일日号]", lambda m, t: _past_day(int(m[1]), int(m[2]), t)),
        (r"(?<!\d)(\d{1,2})\s?[월月](?:에|に|份|中|の)?", lambda m, t: _in_month(int(m[1]), t)),
        *((f"(?:{'|'.join(names.split())})", _on_day(at)) for at, names in enumerate(_WEEKDAYS)),
    ]
    return [(re.compile(pattern, re.IGNORECASE), meant) for pattern, meant in known]


def _one(year: int, month: int, day: int) -> _Span:
    try:
        return _day(date(year, month, day))
    except ValueError:
        return None


def _day(day: date) -> _Span:
    return day, day + _DAY


def _count(word: str) -> int:
    return int(word) if word.isdecimal() else _COUNTED.get(word.lower(), 1)


def _number(month: str) -> int:
    return next(at for at, name in enumerate(_MONTHS, 1) if name.startswith(month.lower()[:3]))


def _dated(day: str, month: str, year: str | None, today: date) -> _Span:
    if year:
        return _one(int(year), _number(month), int(day))
    return _past_day(_number(month), int(day), today)


def _past_day(month: int, day: int, today: date) -> _Span:
    found = _one(today.year, month, day)
    return _one(today.year - 1, month, day) if found is None or found[0] > today else found


def _in_month(number: int, today: date) -> _Span:
    """Return the last month of that number: of this year unless it is still to come."""
    return _whole_month(today.year - (number > today.month), number) if 1 <= number <= 12 else None


def _month(name: str, year: str | None, today: date) -> _Span:
    return _whole_month(int(year), _number(name)) if year else _in_month(_number(name), today)


def _whole_month(year: int, month: int) -> _Span:
    try:
        return date(year, month, 1), date(year + month // 12, month % 12 + 1, 1)
    except ValueError:
        return None


def _weekday(name: str, today: date) -> _Span:
    at = next(at for at, day in enumerate(_DAYS) if day.startswith(name.lower()))
    return _day(today - ((today.weekday() - at - 1) % 7 + 1) * _DAY)


def _on_day(at: int) -> _Meant:
    return lambda _, today: _weekday(_DAYS[at][:3], today)


def _weekend(today: date) -> _Span:
    saturday = today - ((today.weekday() - 5) % 7) * _DAY
    return saturday, saturday + 2 * _DAY


def _unit(unit: str, back: int, today: date) -> _Span:
    if unit == "day":
        return _day(today - back * _DAY)
    if unit == "week":
        monday = today - (today.weekday() + 7 * back) * _DAY
        return monday, monday + 7 * _DAY
    if unit == "month":
        at = today.year * 12 + today.month - 1 - back
        return _whole_month(at // 12, at % 12 + 1)
    return date(today.year - back, 1, 1), date(today.year - back + 1, 1, 1)


def _ago(count: str, unit: str, today: date) -> _Span:
    try:
        day, far = today - _count(count) * _UNITS[unit.lower()] * _DAY, _FAR[unit.lower()] * _DAY
    except OverflowError:
        return None
    return day - far, day + far + _DAY


def _cjk_ago(found: re.Match[str], today: date) -> _Span:
    count, unit = (found[1], found[2]) if found[1] else (found[3], found[4])
    kinds = {"day": "일天日", "week": "주周週", "year": "년年"}
    return _ago(count, next((kind for kind, signs in kinds.items() if unit[0] in signs), "month"), today)
