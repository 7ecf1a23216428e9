"""What was sent before: step by step with Up and Down, or by searching for it."""

from typing import TYPE_CHECKING

from textual import events

from hermes_platform_tui.composer.clean import plain
from hermes_platform_tui.composer.field import Field
from hermes_platform_tui.composer.history import History
from hermes_platform_tui.composer.menu import Menu

if TYPE_CHECKING:
    from hermes_platform_tui.composer.composer import Composer

__all__ = ["Recall"]

FOUND = 100  # entries that a search lists
SHOWN = 300  # characters of an entry that a row can show


class Recall:
    """Walks through history and searches it. What was being written is kept meanwhile."""

    def __init__(self, composer: "Composer", field: Field, menu: Menu, history: History) -> None:
        self._composer, self._field, self._menu, self._history = composer, field, menu, history
        self._back, self._draft, self._put = 0, "", ""
        self._query: str | None = None
        self._found: list[str] = []

    # Step by step

    def walk(self, steps: int) -> bool:
        """Go ``steps`` entries back, or forth to what was being written. Whether there was one."""
        if self._back and self._field.text != self._put:
            self._back = 0  # an entry that was changed is what is being written now
        entries = self._history.entries
        if not self._back:
            self._draft = self._field.text
        back = self._back + steps
        if not 0 <= back <= len(entries):
            return False
        self._back = back
        self._field.swap(self._composer.fold(entries[-back]) if back else self._draft, end=steps < 0)
        self._put = self._field.text
        return True

    # Searching

    @property
    def is_open(self) -> bool:
        """Whether keys go into the search."""
        return self._query is not None

    @property
    def title(self) -> str:
        """What the frame says of the search."""
        if self._query is None:
            return ""
        nothing = "" if self._found else " · nothing found"
        return f"history: {self._query}▏{nothing}"

    def open(self) -> None:
        """Begin to search."""
        self._search("")

    def close(self) -> None:
        """Stop searching; nothing is put in."""
        if self._query is not None:
            self._query, self._found = None, []
            self._menu.close()
            self._composer.remove_class("-searching")
            self._composer.draw_frame()
        self._back = 0

    def add(self, text: str) -> None:
        """Text for the search."""
        self._search((self._query or "") + plain(text))

    def accept(self) -> None:
        """Put the chosen entry in, in place of what was being written; that can be undone."""
        index, found = self._menu.index, self._found
        self.close()
        if 0 <= index < len(found):
            self._field.swap(self._composer.fold(found[index]))

    def take(self, event: events.Key) -> bool:
        """Whether the key was for the search."""
        key, query = event.key, self._query or ""
        if key in ("escape", "ctrl+c", "ctrl+g"):
            self.close()
        elif key in ("enter", "tab", "ctrl+j"):
            self.accept()
        elif key in ("left", "right", "home", "end", "ctrl+a", "ctrl+e"):
            self.accept()
            return False  # and the cursor goes where it is sent
        elif key in ("down", "ctrl+r"):
            self._menu.move(1)
        elif key in ("up", "ctrl+s"):
            self._menu.move(-1)
        elif key in ("backspace", "ctrl+h"):
            self._search(query[:-1])
        elif key == "ctrl+w":
            self._search(query.rstrip().rpartition(" ")[0])
        elif key == "ctrl+u":
            self._search("")
        elif event.is_printable and event.character is not None:
            self.add(event.character)
        elif key.startswith("f") and key[1:].isdigit():
            return False
        return True

    def _search(self, query: str) -> None:
        self._query = query
        self._found = self._history.find(query, FOUND)
        rows = [(entry[:SHOWN].strip().replace("\n", " ↵ "), "") for entry in self._found]
        self._menu.open(rows, 0, *self._composer.room)
        self._composer.add_class("-searching")
        self._composer.draw_frame()
