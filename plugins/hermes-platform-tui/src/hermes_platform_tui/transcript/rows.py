"""Rows that are drawn for a width: one widget, no children, laid out anew only when their count changes."""

from collections.abc import Callable, Sequence

from textual.content import Content
from textual.geometry import Size
from textual.reactive import Reactive
from textual.widget import Widget

from hermes_platform_tui.markdown.width import clip, wrap

__all__ = ["ACCENT", "ADDED", "BAD", "HIT", "HIT_NOW", "INKS", "MUTED", "OK", "REMOVED", "STRONG", "THINKING", "TOOL"]
__all__ += ["USER", "WARN", "Drawn", "clipped", "plain_rows", "quiet_size"]

# Component classes of the transcript: a theme or a skin gives them their colours.
MUTED, STRONG, ACCENT = ".transcript--muted", ".transcript--strong", ".transcript--accent"
OK, BAD, WARN = ".transcript--ok", ".transcript--bad", ".transcript--warn"
ADDED, REMOVED = ".transcript--added", ".transcript--removed"
HIT, HIT_NOW = ".transcript--hit", ".transcript--hit-now"
USER, TOOL, THINKING = ".transcript--user", ".transcript--tool", ".transcript--thinking"
INKS = (MUTED, STRONG, ACCENT, OK, BAD, WARN, ADDED, REMOVED, HIT, HIT_NOW, USER, TOOL, THINKING)


def quiet_size() -> Reactive[Size]:
    """For ``virtual_size``: a size that was told by a layout asks for no second one, as it would by default.

    While a text is written, heights change twenty times a second.
    """
    return Reactive(Size(0, 0))


class Drawn(Widget):
    """Shows what ``draw`` gives for its width. A row is never wider than that, nor wrapped again."""

    virtual_size = quiet_size()

    DEFAULT_CSS = "Drawn { width: 1fr; height: auto; text-wrap: nowrap; text-overflow: clip; }"

    def __init__(self, draw: Callable[[int], Sequence[Content]], classes: str | None = None) -> None:
        super().__init__(classes=classes)
        self._draw = draw
        self._drawn: tuple[int, list[Content]] = (0, [])
        self._words = ""
        self._current: int | None = None

    def rows(self, width: int = 0) -> list[Content]:
        """The rows for a width, or for the present one."""
        width = width or self.content_size.width or self._drawn[0] or 80
        if self._drawn[0] != width:
            self._drawn = (width, self._marked([row for row in self._draw(width) if row is not None]))
        return self._drawn[1]

    def redraw(self) -> None:
        """Something that is drawn has changed."""
        width, before = self._drawn
        self._drawn = (0, [])
        if not self.is_mounted or not width or len(self.rows(width)) != len(before):
            self.refresh(layout=True)
        else:
            self._layout_cache.clear()  # the rendered content of the same height; a layout would cost a hundred times
            self.refresh()

    def find(self, words: str) -> list[int]:
        """The rows that hold the words."""
        wanted = words.casefold()
        return [number for number, row in enumerate(self.rows()) if wanted and wanted in row.plain.casefold()]

    def highlight(self, words: str, current: int | None) -> None:
        """Mark the words; those of the current row stand out. None and nothing take the marks away."""
        if (words, current) != (self._words, self._current):
            self._words, self._current = words, current
            self.redraw()

    def _marked(self, rows: list[Content]) -> list[Content]:
        if not self._words:
            return rows
        wanted = self._words.casefold()
        for number, row in enumerate(rows):
            text, ink = row.plain.casefold(), HIT_NOW if number == self._current else HIT
            at = text.find(wanted)
            while at >= 0 and len(text) == len(row.plain):
                rows[number] = rows[number].stylize(ink, at, at + len(wanted))
                at = text.find(wanted, at + len(wanted))
        return rows

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self.rows(width)) if width else 0

    def render(self) -> Content:
        return Content("\n").join(self.rows())


def plain_rows(text: str, width: int, ink: str = "", first: str = "", rest: str = "") -> list[Content]:
    """A text wrapped to a width, with something before its first row and before the others."""
    room = max(4, width - max(len(first), len(rest)))
    rows = []
    for number, row in enumerate(wrap(text, room)):
        rows.append(Content.assemble((first if not number else rest, ink), (row, ink)))
    return rows


def clipped(text: str, width: int, ink: str = "", before: str = "") -> Content:
    """One row of a text."""
    return Content.assemble((before, MUTED), (clip(text, max(1, width - len(before))), ink))
