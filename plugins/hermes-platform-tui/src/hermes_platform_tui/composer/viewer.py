"""What is behind a chip, to be looked at."""

from collections.abc import Sequence
from typing import ClassVar, Literal

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import Static

__all__ = ["PasteChoice", "PasteViewer"]

PasteChoice = Literal["", "unfold", "remove"]
WIDEST = 10_000  # cells of a line that can be scrolled to


class PastePages(ScrollView, can_focus=True):
    """Lines that are drawn when they are scrolled to, so that a long text costs no more than a short one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "page_down", show=False),
        Binding("j", "scroll_down", show=False),
        Binding("k", "scroll_up", show=False),
    ]

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__()
        self._lines = lines

    def on_mount(self) -> None:
        widest = max((len(line) for line in self._lines), default=0)
        self.virtual_size = Size(min(2 * widest, WIDEST) if widest > 200 else self._widest(), len(self._lines))

    def _widest(self) -> int:
        return max((cell_len(line.expandtabs(4)) for line in self._lines[:2_000]), default=0)

    def render_line(self, y: int) -> Strip:
        left, top = self.scroll_offset
        width, number = self.size.width, top + y
        line = self._lines[number][:WIDEST].expandtabs(4) if number < len(self._lines) else ""
        strip = Strip([Segment(line)]).crop(left, left + width)
        return strip.adjust_cell_length(width).apply_style(self.rich_style)


class PasteViewer(ModalScreen[PasteChoice]):
    """A text, and what can be done with the chip that stands for it."""

    DEFAULT_CSS = """
    PasteViewer {
        align: center middle;
        & > Vertical {
            width: 90%; height: 80%; max-width: 120;
            border: round $primary; background: $surface; padding: 0 1;
            border-title-color: $primary; border-title-style: bold;
        }
        & PastePages { height: 1fr; background: $surface; scrollbar-size: 1 1; }
        & Static { height: 1; color: $text-muted; text-wrap: nowrap; text-overflow: ellipsis; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,ctrl+o", "answer('')", "Close"),
        Binding("e", "answer('unfold')", "Put the text in"),
        Binding("d,delete", "answer('remove')", "Remove"),
    ]

    def __init__(self, title: str, text: str, unfolds: bool) -> None:
        super().__init__()
        self._title, self._text, self._unfolds = title, text, unfolds

    def compose(self) -> ComposeResult:
        """A box with the text and a line of keys."""
        with Vertical() as box:
            box.border_title = Content(set_cell_size(self._title, min(cell_len(self._title), 60)))
            yield PastePages(self._text.split("\n"))
            keys = "Esc close · e put in · d remove" if self._unfolds else "Esc close · d remove"
            yield Static(Content(keys))

    def action_answer(self, answer: PasteChoice) -> None:
        """Close, and say what is wanted."""
        if answer != "unfold" or self._unfolds:
            self.dismiss(answer)
