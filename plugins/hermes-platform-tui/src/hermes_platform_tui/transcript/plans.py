"""Plans: lists of things to do, found in an output."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

from hermes_core.patterns import pattern
from hermes_core.types import JSON
from hermes_core.values import frozen

__all__ = ["Item", "parse"]

Status: TypeAlias = Literal["open", "now", "done", "dropped"]

_ITEM = pattern(r"\s{0,12}(?:[-*] )?\[([ xX>~-])\] (.+)")
_STATUS: dict[str, Status] = {" ": "open", "x": "done", "X": "done", ">": "now", "~": "now", "-": "dropped"}
_MOST = 300


@frozen
class Item:
    """One thing to do."""

    status: Status
    text: str


def parse(text: str, arguments: Mapping[str, JSON]) -> tuple[list[Item], str] | None:
    """The items of a text that is a plan for the most part, and what else it says; None when it is none.

    Where the call names its items by id the ids are left out: they are for the model.
    """
    lines = [line for line in text.split("\n")[: 2 * _MOST] if line.strip()]
    found = [_ITEM.fullmatch(line.rstrip()) for line in lines]
    items = [match for match in found if match]
    if not items or len(items) * 2 < len(lines):
        return None
    named = isinstance(arguments.get("todos"), list)
    told = [Item(_STATUS[match[1]], _nameless(match[2]) if named else match[2]) for match in items]
    rest = [line.strip() for line, match in zip(lines, found, strict=True) if not match]
    return told, " ".join(rest)


def _nameless(text: str) -> str:
    name, colon, rest = text.partition(": ")
    return rest if colon and rest and " " not in name else text
