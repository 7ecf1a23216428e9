"""A board as columns of text: what is where, the most urgent on top."""

from collections.abc import Sequence
from typing import NamedTuple

from hermes_tables.tables import fitted
from hermes_tool_kanban.values import STATUSES, Task
from hermes_tool_kanban.words import flat

__all__ = ["COLOURS", "Cell", "columns_of", "picture"]

COLOURS = {
    "triage": "magenta", "ready": "cyan", "running": "yellow", "blocked": "red", "review": "blue", "done": "green",
    "archived": "bright_black",
}  # fmt: skip
_USUAL = ("todo", "ready", "running", "blocked", "review", "done")  # shown although they are empty
_NARROWEST = 14


class Cell(NamedTuple):
    """A piece of a line, in a colour. ``task`` is whose card it is of."""

    text: str
    status: str
    bold: bool = False
    task: str = ""


def columns_of(tasks: Sequence[Task], *, archived: bool = False) -> dict[str, list[Task]]:
    """Return the tasks by status, as columns from left to right."""
    found: dict[str, list[Task]] = {}
    for status in STATUSES:
        there = [one for one in tasks if one.status == status]
        if status == "done":
            there.sort(key=lambda one: -one.completed)
        if there or status in _USUAL:
            found[status] = there
    if not archived:
        found.pop("archived", None)
    return found


def picture(columns: dict[str, list[Task]], width: int, height: int, chosen: str = "") -> list[list[Cell]]:
    """Return the lines of a board that fits; columns that do not go below the others. The ``chosen`` is in sight."""
    side = max(1, min(len(columns), width // _NARROWEST))
    names, lines = list(columns), list[list[Cell]]()
    rows = [names[first : first + side] for first in range(0, len(names), side)]
    room = max(3, height // len(rows) - 2)
    for row in rows:
        each = max(_NARROWEST, width // len(row)) - 1
        lines.append([Cell(fitted(f"{name} {len(columns[name])}", each), name, bold=True) for name in row])
        cards = {name: _cards(columns[name], room, chosen) for name in row}
        for number in range(max(map(len, cards.values()))):
            pieces = [(name, cards[name][number] if number < len(cards[name]) else ("", "")) for name in row]
            lines.append([Cell(fitted(text, each), name, task=task) for name, (text, task) in pieces])
        lines.append([])
    return lines[:-1]


def _cards(tasks: Sequence[Task], room: int, chosen: str) -> list[tuple[str, str]]:
    """Return the lines of a column, each with its task: the id and who has it, then the title."""
    lines: list[tuple[str, str]] = []
    fit = max(1, (room - 2) // 2)  # cards, with a line above and one below for those out of sight
    at = next((number for number, one in enumerate(tasks) if one.id == chosen), 0)
    first = 0 if len(tasks) * 2 <= room else min(max(0, at - fit // 2), max(0, len(tasks) - fit))
    shown = tasks if len(tasks) * 2 <= room else tasks[first : first + fit]
    if first:
        lines.append((f"… {first} more", ""))
    for task in shown:
        lines.append((" ".join(filter(None, (task.id, task.assignee))), task.id))
        lines.append((f"  {flat(task.title)}", task.id))
    if left := len(tasks) - first - len(shown):
        lines.append((f"… {left} more", ""))
    return lines
