"""A whole output on a screen of its own: however long it is, only the rows in view are made."""

import asyncio
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import Static

from hermes_platform_tui.markdown.clean import clean
from hermes_platform_tui.markdown.width import clip, expand, wrap

__all__ = ["Viewer"]


class _Lines(ScrollView, can_focus=True):
    """Rows of text, wrapped to the width."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text, self._rows, self._width = text, list[str](), 0

    async def on_resize(self, event: events.Resize) -> None:
        """Wrap anew, beside the loop: a megabyte takes longer than a frame."""
        width = max(2, event.size.width - 1)
        if width != self._width:
            self._width = width
            rows = await asyncio.to_thread(_rows, self._text, width)
            self._rows = rows
            self.virtual_size = Size(width, len(rows))
            self.refresh()

    def action_page_up(self) -> None:
        """A screen up."""
        self.scroll_relative(y=-self.size.height, animate=False, immediate=True)

    def action_page_down(self) -> None:
        """A screen down."""
        self.scroll_relative(y=self.size.height, animate=False, immediate=True)

    def action_scroll_home(self) -> None:
        """To the first row."""
        self.scroll_to(y=0, animate=False, immediate=True)

    def action_scroll_end(self) -> None:
        """To the last row."""
        self.scroll_to(y=self.max_scroll_y, animate=False, immediate=True)

    def render_line(self, y: int) -> Strip:
        """One row of those in view."""
        at = y + round(self.scroll_y)
        text = self._rows[at] if at < len(self._rows) else ""
        style = self.visual_style.rich_style
        return Strip([Segment(text, style)]).adjust_cell_length(self.size.width, style)


def _rows(text: str, width: int) -> list[str]:
    rows: list[str] = []
    for line in clean(text).strip("\n").split("\n"):
        rows += wrap(expand(line), width)
    return rows


class Viewer(ModalScreen[str | None]):
    """Shows a text; Escape or q closes it, c gives it as the result, to be copied."""

    DEFAULT_CSS = """
    Viewer { align: center middle; background: $background 60%; }
    Viewer > #frame-title, Viewer > #frame-keys { width: 100%; height: 1; padding: 0 1; background: $panel; }
    Viewer > #frame-title { text-style: bold; }
    Viewer > #frame-keys { color: $foreground-muted; }
    Viewer > _Lines { width: 100%; height: 1fr; padding: 0 0 0 1; background: $surface; scrollbar-size-vertical: 1; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,o", "close", "Close"),
        Binding("c", "copy", "Copy"),
    ]

    def __init__(self, title: str, text: str) -> None:
        super().__init__()
        self._title, self._text = title, text

    def compose(self) -> ComposeResult:
        yield Static(clip(self._title, 200), id="frame-title", markup=False)
        yield _Lines(self._text)
        yield Static("PgUp PgDn Home End scroll · c copies · Esc closes", id="frame-keys", markup=False)

    def on_mount(self) -> None:
        """Begin with the keys in the text."""
        self.query_one(_Lines).focus()

    def action_close(self) -> None:
        """Back to the conversation."""
        self.dismiss(None)

    def action_copy(self) -> None:
        """Give the text away."""
        self.dismiss(clean(self._text))
