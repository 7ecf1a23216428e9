"""One question of our own, and two or three answers."""

from collections.abc import Sequence
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from hermes_platform_tui.screens.dialog import Dialog, Hint
from hermes_platform_tui.screens.rows import Row, Rows
from hermes_platform_tui.screens.shown import clean

__all__ = ["ConfirmDialog"]

_SAFE = ("cancel", "no", "deny", "keep")


class ConfirmDialog(Dialog[str]):
    """Ends with one of the choices. Escape is the safe one: ``cancel``, or the last; the cursor begins there too."""

    TITLE_TEXT = "Sure?"
    AUTO_HEIGHT = True
    FLEXIBLE = "#textscroll"
    AUTO_FOCUS = "#rows"
    HINTS: ClassVar[Sequence[Hint]] = (Hint("Enter", "choose"), Hint("Esc", "cancel", "cancel"), Hint("↑↓", "move"))
    DEFAULT_CSS = """
    ConfirmDialog {
        & > #box { max-width: 72; }
        & #text { height: auto; }
        & #textscroll { height: auto; margin-bottom: 1; scrollbar-size-vertical: 1; }
        & #rows { height: auto; max-height: 6; }
    }
    """

    def __init__(self, text: str, choices: Sequence[str] = ("once", "always", "cancel"), *, title: str = "") -> None:
        super().__init__()
        self._text, self._choices, self._title = text, tuple(choices), title or self.TITLE_TEXT
        self._safe = next((choice for choice in _SAFE if choice in self._choices), self._choices[-1])

    def body(self) -> ComposeResult:
        """The question, then the choices."""
        with VerticalScroll(id="textscroll", can_focus=False):
            yield Static(Content(clean(self._text)), id="text", markup=False)
        yield Rows("rows")

    def on_mount(self) -> None:
        """Each choice has its digit, and its letter where that is its own."""
        self.set_title(self._title)
        rows = self.query_one(Rows)
        shown = [f"{number} {clean(choice)}" for number, choice in enumerate(self._choices, 1)]
        rows.show([_row(choice, text) for choice, text in zip(self._choices, shown, strict=True)], at=self._safe)
        rows.styles.height = len(self._choices)

    def on_key(self, event: events.Key) -> None:
        """A digit or a first letter answers."""
        typed = (event.character or "").casefold()
        first = [choice[:1].casefold() for choice in self._choices]
        if typed.isdigit() and 0 < int(typed) <= len(self._choices):
            self.finish(self._choices[int(typed) - 1])
        elif typed and first.count(typed) == 1:
            self.finish(self._choices[first.index(typed)])

    @on(Rows.Chosen)
    def _chosen(self, event: Rows.Chosen) -> None:
        self.finish(event.row.id)

    def action_cancel(self) -> None:
        """What takes nothing away."""
        self.finish(self._safe)


def _row(choice: str, text: str) -> Row:
    return Row(choice, lambda width: Content(text))
