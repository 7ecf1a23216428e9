"""A plan: its items, how one plan becomes another, and how it reads. Nothing is kept here."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

from attrs import evolve

from hermes_core.errors import ToolError
from hermes_core.values import frozen

Status: TypeAlias = Literal["pending", "in_progress", "completed", "cancelled"]
STATUSES: tuple[Status, ...] = ("pending", "in_progress", "completed", "cancelled")
OPEN: tuple[Status, ...] = ("pending", "in_progress")
MOST_ITEMS = 256
MOST_CHARACTERS = 4_000  # of one item's content
_MOST_ID = 100

_MARKS: dict[Status, str] = {"pending": "[ ]", "in_progress": "[>]", "completed": "[x]", "cancelled": "[-]"}


@frozen(kw_only=True)
class Item:
    """One step of a plan."""

    id: str
    content: str
    status: Status = "pending"


@frozen(kw_only=True)
class Change:
    """What a call says of one item. None keeps what an item has; a new one needs content and begins as pending."""

    id: str
    content: str | None = None
    status: Status | None = None


Plan: TypeAlias = tuple[Item, ...]


def apply(plan: Plan, changes: Sequence[Change], *, merge: bool) -> Plan:
    """The plan after a call: merged by id, or replaced as a whole. Raises ToolError with every problem at once."""
    kept = {item.id: item for item in plan} if merge else {}
    problems, seen = [], set[str]()
    for number, change in enumerate(changes):
        where, label = f"todos[{number}]", change.id.strip()
        problems += _problems(where, change, label, new=label not in kept, again=label in seen)
        seen.add(label)
        content = change.content.strip() if change.content is not None else None
        if label in kept:
            before = kept[label]
            kept[label] = evolve(before, content=content or before.content, status=change.status or before.status)
        else:
            kept[label] = Item(id=label, content=content or "", status=change.status or "pending")
    if len(kept) > MOST_ITEMS:
        problems.append(f"a plan has at most {MOST_ITEMS} items, this would be {len(kept)}")
    if problems:
        raise ToolError("The plan was not changed:\n- " + "\n- ".join(problems[:20]), hint="Correct it and call again.")
    return tuple(kept.values())


def _problems(where: str, change: Change, label: str, *, new: bool, again: bool) -> list[str]:
    found = []
    if not label or len(label) > _MOST_ID or not label.isprintable():
        found.append(f"{where}.id: one line of 1 to {_MOST_ID} characters is needed")
    elif again:
        found.append(f"{where}.id: {label!r} was used before in this call")
    if change.content is None and new:
        found.append(f"{where}.content: needed, since there is no item {label[:_MOST_ID]!r} to update")
    elif change.content is not None and not change.content.strip():
        found.append(f"{where}.content: it is empty")
    elif change.content is not None and len(change.content) > MOST_CHARACTERS:
        found.append(f"{where}.content: {len(change.content):,} characters; {MOST_CHARACTERS:,} is the most")
    return found


def summary(plan: Plan) -> str:
    """How far it is, in one line."""
    counts = [(status, sum(item.status == status for item in plan)) for status in STATUSES]
    states = ", ".join(f"{count} {status.replace('_', ' ')}" for status, count in counts if count)
    return f"{len(plan)} {'item' if len(plan) == 1 else 'items'}: {states}"


def for_model(plan: Plan) -> str:
    """The whole plan with its ids, and the summary."""
    if not plan:
        return "The plan is empty."
    lines = [f"{_MARKS[item.status]} {item.id}: {item.content.replace(chr(10), chr(10) + '    ')}" for item in plan]
    return "\n".join([*lines, summary(plan)])


def for_person(plan: Plan) -> str:
    """The plan as a person reads it: a line for each item, without ids."""
    if not plan:
        return "There is no plan in this conversation."
    lines = [f"    {_MARKS[item.status]} {' '.join(item.content.split())}" for item in plan]
    return "\n".join([*lines, "", summary(plan)])
