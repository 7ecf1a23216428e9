"""A dialog with a line to type into and a list that follows what is typed."""

from typing import ClassVar, TypeVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Input, Static

from hermes_platform_tui.screens.dialog import Dialog
from hermes_platform_tui.screens.line import Line
from hermes_platform_tui.screens.rows import Rows

__all__ = ["Filter", "Picker", "matches"]

T = TypeVar("T")


def matches(words: str, *texts: str) -> bool:
    """Whether every word is somewhere in the texts."""
    there = "\n".join(texts).casefold()
    return all(word in there for word in words.casefold().split())


class Filter(Line):
    """The line that is typed into. Delete at its end is meant for the list."""

    def on_key(self, event: events.Key) -> None:
        """Delete, where there is nothing to delete."""
        if event.key == "delete" and self.cursor_position >= len(self.value) and isinstance(self.screen, Picker):
            event.stop()
            event.prevent_default()
            self.screen.action_delete()


class Picker(Dialog[T]):
    """Typing filters at once, arrows move the list, Enter chooses. Tab goes to the list, where single keys work."""

    PLACEHOLDER: ClassVar[str] = "Type to filter"
    EMPTY: ClassVar[str] = "Nothing fits what you typed."
    DEFAULT_CSS = """
    Picker {
        & #filterline { height: 1; margin-bottom: 1; }
        &.-short #filterline { margin-bottom: 0; }
        & #filtermark { width: 2; color: $text-muted; }
        & #filterline:focus-within #filtermark { color: $text-primary; text-style: bold; }
        & #filter { border: none; height: 1; padding: 0; background: transparent; width: 1fr; }
        & #beside { height: 1fr; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "rows('move', -1)", show=False),
        Binding("down", "rows('move', 1)", show=False),
        Binding("pageup", "rows('page', -1)", show=False),
        Binding("pagedown", "rows('page', 1)", show=False),
        Binding("ctrl+home", "rows('edge', -1)", show=False),
        Binding("ctrl+end", "rows('edge', 1)", show=False),
        Binding("delete", "delete", show=False),
        Binding("slash", "filter", show=False),
    ]
    AUTO_FOCUS = "#filter"

    def body(self) -> ComposeResult:
        """The line and the list; ``aside`` beside the list."""
        with Horizontal(id="filterline"):
            yield Static("› ", id="filtermark", markup=False)
            yield Filter(placeholder=self.PLACEHOLDER, id="filter", compact=True, select_on_focus=False)
        with Horizontal(id="beside"):
            with Vertical(id="listed"):
                yield Rows("rows", empty=self.EMPTY)
            yield from self.aside()

    def aside(self) -> ComposeResult:
        """What stands beside the list."""
        yield from ()

    @property
    def rows(self) -> Rows:
        """The list."""
        return self.query_one("#rows", Rows)

    @property
    def words(self) -> str:
        """What was typed."""
        return self.query_one("#filter", Filter).value.strip()

    def narrow(self) -> None:
        """Show what fits what was typed."""

    def action_rows(self, what: str, step: int) -> None:
        """Move the list while the line has the focus."""
        getattr(self.rows, f"action_{what}")(step)

    def action_filter(self) -> None:
        """Back to the line."""
        self.query_one("#filter", Filter).focus()

    def action_delete(self) -> None:
        """Delete what the cursor is on, where a picker can."""

    def say_empty(self, text: str) -> None:
        """What the list says when it is empty."""
        self.rows.empty = text
        self.rows.refresh()

    @on(Input.Changed, "#filter")
    def _typed(self) -> None:
        self.narrow()
        if self.words:
            self.rows.action_edge(-1)  # the best is the first

    @on(Input.Submitted, "#filter")
    def _submitted(self) -> None:
        self.rows.action_choose()

    def on_key(self, event: events.Key) -> None:
        """A letter that means nothing to the list goes to the line."""
        line = self.query_one("#filter", Filter)
        typed = event.is_printable and event.character and event.key not in self.active_bindings
        if typed and self.focused is self.rows and event.character:
            event.stop()
            line.focus()
            line.insert_text_at_cursor(event.character)
