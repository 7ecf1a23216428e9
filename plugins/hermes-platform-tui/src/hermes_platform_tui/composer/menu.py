"""A short list over the input: what may be put in, or what was sent before."""

from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

__all__ = ["Menu", "Row"]

Row = tuple[str, str]
ROWS = 8


class Menu(Widget):
    """Rows of a text and a summary. ``index`` is the row that is chosen; -1 none."""

    DEFAULT_CSS = """
    Menu {
        display: none;
        overlay: screen;
        height: auto;
        width: 1fr;
        color: $foreground;
        background: $panel;
        &.-open { display: block; }
        & .menu--chosen { background: $block-cursor-background; color: $block-cursor-foreground; text-style: bold; }
        & .menu--summary { color: $text-muted; }
    }
    """

    COMPONENT_CLASSES = {"menu--chosen", "menu--summary"}  # noqa: RUF012 - as Textual declares it

    class Clicked(Message):
        """A row was clicked; it is chosen now."""

    def __init__(self) -> None:
        super().__init__()
        self.index = -1
        self._rows: Sequence[Row] = ()
        self._top = 0
        self._shown = ROWS

    @property
    def is_open(self) -> bool:
        """Whether it is on the screen."""
        return self.has_class("-open")

    def open(self, rows: Sequence[Row], index: int, above: int, below: int) -> None:
        """Show rows where there is room: ``above`` or ``below`` say how much. None of them closes it."""
        if not rows or (above < 1 and below < 1):
            self.close()
            return
        over = above >= min(len(rows), ROWS) or above >= below
        self._rows, self._shown = rows, min(len(rows), ROWS, above if over else below)
        self.styles.offset = (0, -self._shown if over else self.parent_height)
        self.index, self._top = index, 0
        self._scroll()
        self.add_class("-open")
        self.refresh(layout=True)

    @property
    def parent_height(self) -> int:
        """The height of what it belongs to."""
        return self.parent.outer_size.height if isinstance(self.parent, Widget) else 0

    def close(self) -> None:
        """Take it off the screen."""
        self._rows, self.index = (), -1
        self.remove_class("-open")

    def move(self, steps: int) -> None:
        """Choose another row. Going round passes through the state in which none is chosen."""
        count = len(self._rows) + 1
        self.index = (self.index + 1 + steps) % count - 1
        self._scroll()
        self.refresh()

    def _scroll(self) -> None:
        if self.index >= 0:
            self._top = min(max(self._top, self.index - self._shown + 1), self.index)
        else:
            self._top = 0

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        return min(len(self._rows), self._shown)

    def render_line(self, y: int) -> Strip:
        width = self.content_size.width
        number = self._top + y
        if not 0 <= number < len(self._rows):
            return Strip.blank(width, self.rich_style)
        text, summary = self._rows[number]
        chosen = number == self.index
        first = _fit(f" {'›' if chosen else ' '} {text}", self._column(width))
        second = _fit(f"  {summary}", width - cell_len(first) - 1) + " "
        style = self.get_component_rich_style("menu--chosen") if chosen else self.rich_style
        said = style if chosen else self.get_component_rich_style("menu--summary")
        return Strip([Segment(first, style), Segment(second, said)], width)

    def _column(self, width: int) -> int:
        """Cells of the first column: what the rows that are shown need, but room for summaries is left."""
        rows = self._rows[self._top : self._top + self._shown]
        needed = 3 + max(cell_len(text) for text, _ in rows)
        return min(needed, max(width // 2, 14)) if any(summary for _, summary in rows) else width - 1

    def on_click(self, event: events.Click) -> None:
        event.stop()
        row = self._top + event.y
        if row < len(self._rows):
            self.index = row
            self.refresh()
            self.post_message(self.Clicked())


def _fit(text: str, width: int) -> str:
    """The text in exactly ``width`` cells."""
    if cell_len(text) <= width:
        return text + " " * (width - cell_len(text))
    return set_cell_size(text, width - 1) + "…" if width > 0 else ""
