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
    """A piece of a line, in a colour."""

    text: str
    status: str
    bold: bool = False


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


def picture(columns: dict[str, list[Task]], width: int, height: int) -> list[list[Cell]]:
    """Return the lines of a board that fits; columns that do not go below the others."""
    side = max(1, min(len(columns), width // _NARROWEST))
    names, lines = list(columns), list[list[Cell]]()
    rows = [names[first : first + side] for first in range(0, len(names), side)]
    room = max(3, height // len(rows) - 2)
    for row in rows:
        each = max(_NARROWEST, width // len(row)) - 1
        lines.append([Cell(fitted(f"{name} {len(columns[name])}", each), name, bold=True) for name in row])
        cards = {name: _cards(columns[name], each, room) for name in row}
        for number in range(max(map(len, cards.values()))):
            lines.append([
                Cell(fitted(cards[name][number] if number < len(cards[name]) else "", each), name) for name in row
            ])  # fmt: skip
        lines.append([])
    return lines[:-1]


def _cards(tasks: Sequence[Task], width: int, room: int) -> list[str]:
    """Return the lines of a column: of each task its id and who has it, then its title."""
    lines: list[str] = []
    for number, task in enumerate(tasks):
        card = [" ".join(filter(None, (task.id, task.assignee))), f"  {flat(task.title)}"]
        if len(lines) + len(card) > room - 1 and number < len(tasks):
            lines.append(f"… {len(tasks) - number} more")
            break
        lines += card
    return lines
