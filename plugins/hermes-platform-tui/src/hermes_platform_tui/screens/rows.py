"""A list of rows of which only those are drawn that are seen, and one of which is the current one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.visual import Visual

__all__ = ["Row", "Rows", "columns", "heading"]

Draw = Callable[[int], Content]
_MARK = "❯ "  # the current row is told by its mark too: colours may be missing


@dataclass(frozen=True)
class Row:
    """One line. ``draw`` gets the cells there are; a row that is not ``choosable`` is passed over."""

    id: str
    draw: Draw
    choosable: bool = True


def heading(text: Content | str, ident: str = "") -> Row:
    """A row that only says what comes below it."""
    content = text if isinstance(text, Content) else Content.styled(text, "bold")
    return Row(ident or f"heading {content.plain}", lambda width: content, choosable=False)


def columns(width: int, *cells: tuple[Content | str, int], least: int = 28) -> Content:
    """Cells side by side with a space between them. A negative size is set to the right; size 0 takes what is left.

    The last cells go first when it is too narrow for all; the first one never. ``least`` is what size 0 has at least
    before others go.
    """
    shown = [cell for cell in cells if cell[1] or cell[0]]
    stretch = min(least, width // 2)
    while len(shown) > 1 and sum((abs(size) or stretch) + 1 for _, size in shown) - 1 > width:
        last = max((place for place, (_, size) in enumerate(shown) if size and place), default=0)
        if not last:
            break
        del shown[last]
    fixed = sum(abs(size) for _, size in shown) + len(shown) - 1
    rest = max(1, width - fixed) // max(1, sum(size == 0 for _, size in shown))
    pieces = []
    for cell, size in shown:
        content = cell if isinstance(cell, Content) else Content(cell)
        cells_of = abs(size) or rest
        content = content.truncate(cells_of, ellipsis=True)
        gap = max(0, cells_of - content.cell_length)
        pieces.append(content.pad_left(gap) if size < 0 else content.pad_right(gap))
    return Content(" ").join(pieces)


class Rows(ScrollView, can_focus=True):
    """Any number of rows, each a line high. Says ``Moved`` and ``Chosen``; ``empty`` is shown when there are none."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"rows--row", "rows--cursor", "rows--empty"}
    DEFAULT_CSS = """
    Rows {
        height: 1fr;
        background: transparent;
        overflow-x: hidden;
        scrollbar-size-vertical: 1;
        & > .rows--row { color: $foreground; }
        & > .rows--empty { color: $text-muted; }
        & > .rows--cursor { background: $block-cursor-background; color: $block-cursor-foreground; text-style: bold; }
        &.-apart > .rows--cursor {
            background: $block-cursor-blurred-background;
            color: $block-cursor-blurred-foreground;
        }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("home", "edge(-1)", show=False),
        Binding("end", "edge(1)", show=False),
        Binding("enter,space", "choose", show=False),
    ]

    class Moved(Message):
        """Another row is the current one; None when there is none to choose."""

        def __init__(self, rows: "Rows", row: Row | None) -> None:
            super().__init__()
            self.rows, self.row = rows, row

        @property
        def control(self) -> "Rows":
            """The list."""
            return self.rows

    class Chosen(Message):
        """A row was chosen."""

        def __init__(self, rows: "Rows", row: Row) -> None:
            super().__init__()
            self.rows, self.row = rows, row

        @property
        def control(self) -> "Rows":
            """The list."""
            return self.rows

    def __init__(self, ident: str = "rows", *, empty: str = "Nothing here.", classes: str | None = None) -> None:
        super().__init__(id=ident, classes=classes)
        self.empty = empty
        self._rows: Sequence[Row] = ()
        self._cursor = -1
        self._from_top = False

    @property
    def current(self) -> Row | None:
        """The row the cursor is on."""
        return self._rows[self._cursor] if 0 <= self._cursor < len(self._rows) else None

    @property
    def shown(self) -> Sequence[Row]:
        """All rows, in their order."""
        return self._rows

    def show(self, rows: Sequence[Row], *, at: str | None = None) -> None:
        """Show other rows. The cursor stays with the row it was on, or goes to the one of id ``at``."""
        held = at if at is not None else self.current.id if self.current else None
        before = self.current
        self._rows = rows
        found = next((place for place, row in enumerate(rows) if row.id == held and row.choosable), None)
        if found is None:
            near = min(max(self._cursor, 0), len(rows) - 1) if at is None and held is not None else 0
            found = self._next(near - 1, 1)
            found = self._next(near, -1) if found is None else found
        self._cursor = -1 if found is None else found
        self._from_top = at is not None
        self._fit()
        if self.current != before:
            self.post_message(self.Moved(self, self.current))

    def _fit(self) -> None:
        self.virtual_size = Size(self.scrollable_content_region.width or self.size.width, len(self._rows))
        if self._from_top:  # where one looks must depend neither on who answered first nor on what size it had then
            self.scroll_to(y=0, animate=False, force=True, immediate=True)
        self._see()
        self.refresh()

    def _see(self) -> None:
        if self._cursor < 0:
            return
        first = self._cursor
        while first and not self._rows[first - 1].choosable:  # with what stands above it
            first -= 1
        region = Region(0, first, max(1, self.virtual_size.width), self._cursor - first + 1)
        self.scroll_to_region(region, animate=False, force=True, immediate=True)

    def _next(self, place: int, step: int) -> int | None:
        place += step
        while 0 <= place < len(self._rows):
            if self._rows[place].choosable:
                return place
            place += step
        return None

    def go(self, place: int | None) -> None:
        """Put the cursor on a row."""
        if place is None or place == self._cursor:
            return
        self._cursor, self._from_top = place, False
        self._see()
        self.refresh()
        self.post_message(self.Moved(self, self.current))

    def action_move(self, step: int) -> None:
        """Go to the next row that can be chosen."""
        self.go(self._next(self._cursor, step))

    def action_page(self, step: int) -> None:
        """Go on by as many rows as are seen."""
        wanted = self._cursor + step * max(1, self.scrollable_content_region.height - 1)
        wanted = min(max(wanted, 0), len(self._rows) - 1)
        near = self._next(wanted - step, step)
        self.go(self._next(wanted + step, -step) if near is None else near)

    def action_edge(self, step: int) -> None:
        """Go to the last row, or the first."""
        self.go(self._next(len(self._rows), -1) if step > 0 else self._next(-1, 1))

    def action_choose(self) -> None:
        """Choose the current row."""
        if self.current is not None:
            self.post_message(self.Chosen(self, self.current))

    def on_resize(self) -> None:
        """The cursor stays in sight."""
        self._fit()

    def watch_show_vertical_scrollbar(self, shown: bool) -> None:
        """A bar that comes after one has scrolled stands where one is."""
        if shown:
            self.vertical_scrollbar.position = self.scroll_y

    def on_click(self, event: events.Click) -> None:
        """A click goes to a row; one on the current row chooses it."""
        place = event.y + self.scroll_offset.y
        if not (0 <= place < len(self._rows) and self._rows[place].choosable):
            return
        if place == self._cursor:
            self.action_choose()
        self.go(place)

    def render_line(self, y: int) -> Strip:
        """One line of what is seen."""
        width = self.scrollable_content_region.width
        place = y + self.scroll_offset.y
        if place >= len(self._rows):
            style = self.get_visual_style("rows--empty")
            if place or self._rows:
                return Strip.blank(width, style.rich_style)
            content = Content(self.empty).truncate(width, ellipsis=True)
        else:
            row, current = self._rows[place], place == self._cursor
            style = self.get_visual_style("rows--cursor" if current else "rows--row")
            drawn = row.draw(max(1, width - 2)).truncate(max(1, width - 2), ellipsis=True)
            if current:  # colours of cells may not be legible on that of the cursor
                drawn = Content(drawn.plain)
            content = Content.assemble(_MARK if current else "  ", drawn) if row.choosable or current else drawn
        strips = Visual.to_strips(self, content, max(1, width), 1, style, apply_selection=False)
        return (strips[0] if strips else Strip.blank(width)).extend_cell_length(width, style.rich_style)
