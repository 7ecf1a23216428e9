"""A board that a person looks at and works with by keys, in a terminal: what is chosen, and what a key does to it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hermes_core.errors import HermesError
from hermes_tool_kanban.keys import ASKS, SURE, VERBS, press
from hermes_tool_kanban.picture import columns_of
from hermes_tool_kanban.values import Task

if TYPE_CHECKING:
    from hermes_tool_kanban.actions import Door

__all__ = ["HELP", "Screen", "keys_of"]

HELP = f"arrows choose · Enter shows · {' · '.join(f'{key} {does}' for key, does in VERBS.items())} · q quit"
_ARROWS = {"A": "up", "B": "down", "C": "right", "D": "left"}
_MOVES = {"k": "up", "j": "down", "l": "right", "h": "left", "up": "up", "down": "down", "right": "right",
          "left": "left"}  # fmt: skip
_ASKS = {**ASKS, **{key: f"{question} y" for key, question in SURE.items()}}


def keys_of(data: str) -> list[str]:
    """Return the keys in what a terminal sent: arrows by name, others as they are."""
    found, place = list[str](), 0
    while place < len(data):
        if data[place] == "\x1b" and data[place + 1 : place + 2] in ("[", "O"):
            found.append(_ARROWS.get(data[place + 2 : place + 3], ""))
            place += 3
            continue
        found.append({"\x1b": "escape", "\r": "enter", "\n": "enter", "\x7f": "delete", "\x08": "delete"}.get(
            data[place], data[place]
        ))  # fmt: skip
        place += 1
    return [one for one in found if one]


class Screen:
    """What is chosen on a board, and what is typed. ``said`` is the bottom line, ``open``: the task is shown."""

    def __init__(self, door: "Door") -> None:
        self._door = door
        self._tasks: Sequence[Task] = ()
        self.chosen = self.said = self.typed = self.asks = ""
        self.open, self.over = False, False

    def show(self, tasks: Sequence[Task]) -> None:
        """Take what is on the board by now; a task that has gone is chosen no more."""
        self._tasks = tasks
        if all(one.id != self.chosen for one in tasks):
            first = next((column[0] for column in columns_of(tasks).values() if column), None)
            self.chosen, self.open = first.id if first else "", False

    @property
    def line(self) -> str:
        """The bottom line: what is asked with what is typed, what was said last, or which keys there are."""
        return f"{_ASKS[self.asks]} {self.typed}▏" if self.asks else self.said or HELP

    async def key(self, key: str) -> None:
        """Do what a key says."""
        if self.asks:
            return await self._type(key)
        self.said = ""
        if key in ("q", "\x03", "\x04"):
            self.over = True
        elif key in ("enter", "escape"):
            self.open = key == "enter" and not self.open and bool(self.chosen)
        elif key in _MOVES:
            self._choose(_MOVES[key])
        elif key in _ASKS and self.chosen:
            self.asks, self.typed = key, ""
        elif key in VERBS and self.chosen:
            await self._send(key, "")
        return None

    async def _type(self, key: str) -> None:
        asked = self.asks
        if key in ("escape", "\x03"):
            self.asks = ""
        elif key == "delete":
            self.typed = self.typed[:-1]
        elif asked == "x":
            self.asks = ""
            if key in ("y", "Y"):
                await self._send(asked, "")
        elif key == "enter":
            self.asks = ""
            await self._send(asked, self.typed.strip())
        elif len(key) == 1 and key.isprintable() and len(self.typed) < 2000:
            self.typed += key

    def _choose(self, way: str) -> None:
        columns = [column for column in columns_of(self._tasks).values() if column]
        at = next(((x, y) for x, column in enumerate(columns) for y, one in enumerate(column) if one.id == self.chosen),
                  None)  # fmt: skip
        if at is None:
            return
        x = min(max(at[0] + {"left": -1, "right": 1}.get(way, 0), 0), len(columns) - 1)
        y = min(max(at[1] + {"up": -1, "down": 1}.get(way, 0), 0), len(columns[x]) - 1)
        self.chosen = columns[x][y].id

    async def _send(self, key: str, text: str) -> None:
        try:
            self.said = await press(self._door, key, self.chosen, text)
        except HermesError as error:
            self.said = error.text
