"""Columns of cards that a person goes over with the arrows: as many as there is room for, the chosen one in sight."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from hermes_platform_tui.screens.shown import one_line
from hermes_tool_kit.screens import Card, Column

__all__ = ["Columns"]

_NARROWEST = 18  # cells of a column
_MARK = "❯ "  # what is chosen is told by its mark too: colours may be missing
_TONES = {
    "good": "$text-success", "bad": "$text-error", "busy": "$text-primary", "waits": "$text-warning",
    "quiet": "$foreground-muted",
}  # fmt: skip


@dataclass(frozen=True)
class _Line:
    """A line of one column, and which of its cards it is of; -1 for none."""

    content: Content
    card: int = -1


class Columns(Widget, can_focus=True):
    """Any number of columns. Says ``Chosen`` on Enter, ``Pushed`` on Shift with an arrow, and ``Seen``."""

    DEFAULT_CSS = "Columns { height: 1fr; background: transparent; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "step(0, -1)", show=False),
        Binding("down", "step(0, 1)", show=False),
        Binding("left", "step(-1, 0)", show=False),
        Binding("right", "step(1, 0)", show=False),
        Binding("pageup", "step(0, -10)", show=False),
        Binding("pagedown", "step(0, 10)", show=False),
        Binding("home", "step(0, -1000000)", show=False),
        Binding("end", "step(0, 1000000)", show=False),
        Binding("shift+left", "push(-1)", show=False),
        Binding("shift+right", "push(1)", show=False),
        Binding("enter", "choose", show=False),
    ]

    class Seen(Message):
        """Other columns are seen."""

    class Chosen(Message):
        """A card was chosen."""

    class Pushed(Message):
        """A card is to go to another column."""

        def __init__(self, card: Card, column: Column) -> None:
            super().__init__()
            self.card, self.column = card, column

    def __init__(self) -> None:
        super().__init__(id="columns")
        self._columns: Sequence[Column] = ()
        self._column = self._row = self._first = 0
        self._drawn: list[tuple[int, int, list[_Line]]] = []  # where each column that is seen begins, and its number

    @property
    def card(self) -> Card | None:
        """The card that is chosen."""
        cards = self._columns[self._column].cards if self._columns else ()
        return cards[self._row] if self._row < len(cards) else None

    def show(self, columns: Sequence[Column], at: str = "") -> None:
        """Show others. The same card stays chosen, wherever it is now; else the column stays, at first that ``at``."""
        card = self.card
        before = self._columns[self._column].id if self._columns else at
        self._columns = columns
        places = [(x, y) for x, column in enumerate(columns) for y, one in enumerate(column.cards)]
        same = (place for place in places if card and columns[place[0]].cards[place[1]].id == card.id)
        column = next((x for x, one in enumerate(columns) if one.id == before), min(self._column, len(columns) - 1))
        self._column, self._row = next(same, (max(0, column), self._row))
        if at:
            self._first = max(0, self._column - 1)  # with the one before it
        elif card is None and columns and not columns[self._column].cards:
            self._column, self._row = next(iter(places), (self._column, 0))
        self._fit()
        self.refresh()

    @property
    def seen(self) -> tuple[int, int, int]:
        """The first and the last column that are seen, from one, and how many there are."""
        return self._first + 1, min(self._first + self._fitting, len(self._columns)), len(self._columns)

    @property
    def _fitting(self) -> int:
        return max(1, min(len(self._columns), (self.size.width + 1) // (_NARROWEST + 1)))

    def _fit(self) -> None:
        if self._columns:
            self._row = max(0, min(self._row, len(self._columns[self._column].cards) - 1))
            self._first = min(max(self._first, self._column - self._fitting + 1), self._column)
            self._first = max(0, min(self._first, len(self._columns) - self._fitting))
        self.post_message(self.Seen())

    def on_resize(self) -> None:
        """What is chosen stays in sight."""
        self._fit()

    def action_step(self, across: int, down: int) -> None:
        """Go to another card, or another column."""
        if self._columns:
            self._column = max(0, min(self._column + across, len(self._columns) - 1))
            self._row = max(0, self._row + down)
            self._fit()
            self.refresh()

    def action_choose(self) -> None:
        """Choose the card."""
        if self.card:
            self.post_message(self.Chosen())

    def action_push(self, step: int) -> None:
        """Send the card to the nearest column on that side that it can go to."""
        card, beside = self.card, self._columns[: self._column][::-1] if step < 0 else self._columns[self._column + 1 :]
        if card and (found := next((one for one in beside if one.id in card.goes), None)):
            self.post_message(self.Pushed(card, found))

    def on_click(self, event: events.Click) -> None:
        """A click goes to a card; one on the current card chooses it."""
        for left, number, lines in self._drawn:
            if left <= event.x < left + self._width and event.y < len(lines):
                there = lines[event.y].card
                again = there >= 0 and (number, there) == (self._column, self._row)
                self._column, self._row = number, max(0, there)
                self._fit()
                self.refresh()
                if again:
                    self.action_choose()

    @property
    def _width(self) -> int:
        return max(4, (self.size.width - self._fitting + 1) // self._fitting)

    def render(self) -> Content:
        """Draw the columns that are seen."""
        if not self._columns:
            return Content.styled("Nothing here.", "$foreground-muted")
        width, height = self._width, max(3, self.size.height)
        seen = range(self._first, min(self._first + self._fitting, len(self._columns)))
        self._drawn = [(place * (width + 1), x, self._lines(x, width, height)) for place, x in enumerate(seen)]
        rows = []
        for number in range(max(len(lines) for _, _, lines in self._drawn)):
            parts = [lines[number].content if number < len(lines) else Content("") for _, _, lines in self._drawn]
            rows.append(Content(" ").join(_padded(part, width) for part in parts))
        return Content("\n").join(rows)

    def _lines(self, x: int, width: int, height: int) -> list[_Line]:
        """Return the lines of a column: its head, then those of its cards that fit, with how many are out of sight."""
        column, here = self._columns[x], x == self._column
        style = f"bold underline {_TONES.get(column.tone, '')}".strip()
        head = Content.styled(f"{one_line(column.title, 60)} {len(column.cards) or ''}".strip(), style)
        lines = [_Line(Content.assemble(_MARK, head) if here and not column.cards else head)]
        each = 2 if any(card.note for card in column.cards) else 1
        room = (height - 1) // each
        first, last = 0, len(column.cards)
        if last > room:
            room = max(1, (height - 3) // each)
            chosen = self._row if here else 0
            first = min(max(0, chosen - room // 2), last - room)
            last = first + room
        if first:
            lines.append(_Line(Content.styled(f"  … {first} more", "$foreground-muted")))
        for y in range(first, last):
            lines += _card(column.cards[y], y, width, each, chosen=here and y == self._row)
        if left := len(column.cards) - last:
            lines.append(_Line(Content.styled(f"  … {left} more", "$foreground-muted")))
        return lines


def _card(card: Card, number: int, width: int, each: int, *, chosen: bool) -> list[_Line]:
    title, note = one_line(card.title, 200), one_line(card.note, 200)
    if chosen:
        style = "$block-cursor-foreground on $block-cursor-background"
        texts = [f"{_MARK}{title}", f"  {note}"][:each]
        return [_Line(_padded(Content(text), width).stylize(style), number) for text in texts]
    said = ((title, _TONES.get(card.tone, "")), (note, "$foreground-muted"))
    return [_Line(Content.assemble("  ", piece), number) for piece in said[:each]]


def _padded(content: Content, width: int) -> Content:
    short = content.truncate(width, ellipsis=True)
    return short.pad_right(max(0, width - short.cell_length))
