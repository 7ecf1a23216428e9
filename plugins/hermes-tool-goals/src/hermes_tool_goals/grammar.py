"""What a person writes behind ``/goal`` and ``/loop``: words, and behind bars what must hold and what it may use."""

import re
from collections.abc import Sequence
from typing import Any

from attrs import Factory, evolve

from hermes_core.errors import UserError
from hermes_core.values import frozen
from hermes_tool_goals.values import Check, Goal

__all__ = ["Wanted", "parse", "parse_loop", "period", "pieces", "shown_period", "written"]

_KINDS = {"check": "command", "file": "file", "ask": "ask"}
_AMOUNTS = ("turns", "money", "time")
_PART = re.compile(rf"\s*(?:\||\n)\s*(?=(?:{'|'.join((*_KINDS, *_AMOUNTS))})\s*:)", re.IGNORECASE)
_UNTIL = re.compile(r"\suntil\s+(?=\S)", re.IGNORECASE)
_PIECE = re.compile(r"(\d{1,6})\s*(seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d)(?![a-z])", re.IGNORECASE)
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_LEAST, _MOST = 10, 7 * 86_400  # seconds between two turns of a loop
_LONGEST, _COMMAND, _CHECKS = 8_000, 2_000, 12  # characters of a goal, of a check, and how many of these
_TURNS = 1_000
_HINT = "Write it as /goal TEXT | check: COMMAND | file: PATH | ask: QUESTION | turns: 10 | money: 2 | time: 1h"


@frozen(kw_only=True)
class Wanted:
    """What was written. What is None was not said."""

    text: str = ""
    checks: Sequence[Check] = Factory(tuple)
    turns: int | None = None
    money: float | None = None
    seconds: float | None = None
    interval: float = 0.0
    until: str = ""

    @property
    def amounts(self) -> dict[str, Any]:
        """What was said of the budget."""
        found = {"turns": self.turns, "money": self.money, "seconds": self.seconds}
        return {name: value for name, value in found.items() if value is not None}


def parse(rest: str) -> Wanted:
    """Read a goal. Raises UserError, which says how to write it."""
    text, *parts = _PART.split(rest.strip())
    if text and re.match(rf"(?:{'|'.join((*_KINDS, *_AMOUNTS))})\s*:", text, re.IGNORECASE):
        text, parts = "", [text, *parts]
    found = Wanted(text=text.strip())
    checks: list[Check] = []
    for part in parts:
        name, _, value = part.partition(":")
        name, value = name.strip().lower(), value.strip()
        if not value:
            raise UserError(f"Nothing follows {name}:", hint=_HINT)
        if name in _KINDS:
            checks.append(_check(_KINDS[name], value))
        else:
            found = evolve(found, **_amount(name, value))
    if len(checks) > _CHECKS:
        raise UserError(f"A contract has {_CHECKS} checks at most.", hint="Put some into one script.")
    if len(found.text) > _LONGEST:
        raise UserError(f"That is too long: {_LONGEST:,} characters are the most.")
    return evolve(found, checks=tuple(dict.fromkeys(checks)))


def pieces(line: str) -> list[str]:
    """Return the words of a line and each of its parts, as they are written."""
    return _PART.split(line.strip())


def parse_loop(rest: str) -> Wanted:
    """Read a loop: an interval, a prompt, and the condition behind its last ``until``. Raises UserError."""
    seconds, behind = _leading(rest.strip())
    if not seconds:
        raise UserError("Say how often: /loop 10m check the build until it is green", hint="Intervals: 30s, 10m, 1h30m")
    if not _LEAST <= seconds <= _MOST:
        raise UserError(f"A loop waits between {_LEAST} seconds and {_MOST // 86_400} days.")
    found = parse(behind)
    if not found.text:
        raise UserError("Say what is to be repeated: /loop 10m check the build until it is green")
    parts = _UNTIL.split(found.text)
    return evolve(found, interval=seconds, until=parts[-1].strip() if len(parts) > 1 else "")


def period(text: str) -> float:
    """Read a time such as ``90s``, ``10m`` or ``1h30m``; 0 where it is none."""
    seconds, behind = _leading(text.strip())
    return 0.0 if behind else seconds


def _leading(text: str) -> tuple[float, str]:
    """Return the seconds that a text begins with, and what follows."""
    text = re.sub(r"^every\s+", "", text, flags=re.IGNORECASE)
    seconds, place = 0.0, 0
    while found := _PIECE.match(text, place):
        seconds += int(found[1]) * _UNITS[found[2][0].lower()]
        place = found.end()
        while place < len(text) and text[place] == " " and _PIECE.match(text, place + 1):
            place += 1
    if place < len(text) and not text[place].isspace():
        return 0.0, text
    return seconds, text[place:].strip()


def shown_period(seconds: float) -> str:
    """Write a time as ``period`` reads it."""
    left, found = round(seconds), ""
    for unit in ("d", "h", "m", "s"):
        many, left = divmod(left, _UNITS[unit])
        found += f"{many}{unit}" if many else ""
    return found or "0s"


def written(goal: Goal) -> str:
    """Write a goal as ``parse`` reads it, and a loop as ``parse_loop`` does."""
    names = {kind: name for name, kind in _KINDS.items()}
    parts = [goal.text, *(f"{names[one.kind]}: {one.what}" for one in goal.checks), f"turns: {goal.turns}"]
    parts += [f"money: {goal.money:g}"] if goal.money else []
    parts += [f"time: {shown_period(goal.seconds)}"] if goal.seconds else []
    return f"{f'{shown_period(goal.interval)} ' if goal.is_loop else ''}{' | '.join(parts)}"


def _check(kind: str, value: str) -> Check:
    if len(value) > _COMMAND:
        raise UserError(f"That check is too long: {_COMMAND:,} characters are the most.", hint="Put it into a script.")
    if kind == "file" and ("\n" in value or "\0" in value):
        raise UserError("A file is named in one line.")
    return Check(kind=kind, what=value)  # type: ignore[arg-type]  # a key of _KINDS


def _amount(name: str, value: str) -> dict[str, Any]:
    if name == "time":
        if not (seconds := period(value)):
            raise UserError(f"time: {value!r} is no time.", hint="Write 90s, 10m or 1h30m.")
        return {"seconds": seconds}
    try:
        amount = int(value) if name == "turns" else float(value.removeprefix("$"))
    except ValueError:
        raise UserError(f"{name}: {value!r} is no number.", hint=_HINT) from None
    most = _TURNS if name == "turns" else 100_000
    if not (0 < amount <= most):
        raise UserError(f"{name} is between {'1' if name == 'turns' else '0'} and {most:,}.")
    return {name: amount}
