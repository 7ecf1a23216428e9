"""Text that is shown to the letter: folded, so that no space and no character is lost; our words between words."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import chop_cells
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.visual import Visual

__all__ = ["Sheet", "Writing"]

_GOES_ON = "↪ "


@dataclass(frozen=True)
class Writing:
    """A piece of text. One that is ``bare`` is our own words: without a margin, and folded between words.

    ``style`` is Textual's.
    """

    text: str
    style: str = ""
    bare: bool = False


def _folded(pieces: Sequence[Writing], width: int) -> Iterator[tuple[str, str, str]]:
    for piece in pieces:
        room = max(2, width - (0 if piece.bare else 2))
        for line in piece.text.split("\n"):
            chunks = [line[at : at + room] for at in range(0, len(line), room)] if line.isascii() else None
            chunks = list(_words(line, room)) if piece.bare else chunks
            for place, chunk in enumerate((chop_cells(line, room) if chunks is None else chunks) or [""]):
                yield "" if piece.bare else _GOES_ON if place else "  ", chunk, piece.style


def _words(line: str, room: int) -> Iterator[str]:
    """The rows of a line, each ended after a word where one fits; no blank is lost."""
    while line:
        row = chop_cells(line[: 4 * room], room)[0]
        if len(row) < len(line) and (blank := row.rfind(" ")) > 0:
            row = row[: blank + 1]
        yield row
        line = line[len(row) :]


class Sheet(ScrollView, can_focus=False):
    """Pieces of text below each other. A line that is too long goes on after a mark in the margin."""

    DEFAULT_CSS = """
    Sheet {
        height: 1fr;
        background: transparent;
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-size-vertical: 1;
    }
    """

    def __init__(self, pieces: Sequence[Writing] = (), *, ident: str = "sheet") -> None:
        super().__init__(id=ident)
        self._pieces = tuple(pieces)
        self._lines: list[tuple[str, str, str]] = []
        self._at: dict[int, list[tuple[str, str, str]]] = {}  # by width; layout asks for two of them
        self._folded_at = 0

    def show(self, pieces: Sequence[Writing], *, end: bool = False) -> None:
        """Show other text; from its end when asked for."""
        self._pieces, self._folded_at = tuple(pieces), 0
        self._at.clear()
        self._fold()
        self.call_after_refresh(self.scroll_end if end else self.scroll_home, animate=False)

    @property
    def below(self) -> int:
        """How many lines are below what is seen."""
        return max(0, len(self._lines) - self.scrollable_content_region.height - self.scroll_offset.y)

    class Seen(Message):
        """Another part of it is seen, or more, or less."""

    def on_resize(self) -> None:
        """Fold it anew."""
        self._fold()
        self.post_message(self.Seen())

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Tell that another part is seen."""
        super().watch_scroll_y(old_value, new_value)
        self.post_message(self.Seen())

    def _fold(self) -> None:
        width = self.scrollable_content_region.width
        if width and width != self._folded_at:
            self._lines, self._folded_at = self._lines_at(width), width
            self.virtual_size = Size(width, len(self._lines))
        self.refresh()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """As many lines as there are."""
        return max(1, len(self._lines_at(width)))

    def _lines_at(self, width: int) -> list[tuple[str, str, str]]:
        if width not in self._at:
            while len(self._at) > 1:
                del self._at[next(iter(self._at))]
            self._at[width] = list(_folded(self._pieces, width))
        return self._at[width]

    def render_line(self, y: int) -> Strip:
        """One line of what is seen."""
        place, width = y + self.scroll_offset.y, self.scrollable_content_region.width
        plain = self.visual_style
        if place >= len(self._lines) or width <= 0:
            return Strip.blank(max(0, width), plain.rich_style)
        margin, text, style = self._lines[place]
        content = Content.assemble((margin, "$text-muted"), (text, style))
        strips = Visual.to_strips(self, content, width, 1, plain)
        return (strips[0] if strips else Strip.blank(width)).extend_cell_length(width, plain.rich_style)
