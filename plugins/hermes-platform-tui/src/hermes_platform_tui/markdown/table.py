"""Tables: cells wrapped in columns; a list of names and values where columns would be too narrow."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from hermes_core.values import define
from hermes_platform_tui.markdown.inline import Link, lines_of
from hermes_platform_tui.markdown.rows import PLAIN, Line, Look, Part, Row, framed, rows_of, width_of
from hermes_platform_tui.markdown.width import cells

if TYPE_CHECKING:
    from markdown_it.token import Token

__all__ = ["Table", "read_table"]

LONG = 20  # columns that a word is not torn in, if it can be helped
TALL = 7  # rows of one cell; more is easier to read as a list
NARROW = 6  # columns that a cell needs to be read, unless it has less to say
_BORDER = Look(("border",))
_HEAD = Look(("head",))
_BETWEEN = 3  # " │ "
Align = Literal["left", "center", "right"]
Cell = list[Line]


@define(slots=True, eq=False)
class Table:
    """What a table says. It has at least one column."""

    head: list[Cell]
    body: list[list[Cell]]
    aligns: list[Align]

    def rows(self, width: int, like: "Table | None" = None) -> list[Row]:
        """The rows for a width. A table that goes on is ``like`` its first part, and has no head."""
        widths = (like or self).widths(width)
        if widths is None:
            return self._as_list(width, goes_on=like is not None)
        lines = [self._row(cells_of_row, widths) for cells_of_row in self.body]
        apart = like._folds(widths) if like else any(len(line) > 1 for line in lines)
        rows: list[Row] = []
        if like is None:
            rows += self._row(self.head, widths)
            rows.append(_border(widths, "━", "┿"))
        for place, line in enumerate(lines):
            if apart and (place or like):
                rows.append(_border(widths, "─", "┼"))
            rows += line
        return rows

    def _folds(self, widths: Sequence[int]) -> bool:
        return any(len(self._row(cells_of_row, widths)) > 1 for cells_of_row in self.body)

    def widths(self, width: int) -> list[int] | None:
        """The width of each column, or nothing if they do not fit."""
        room = width - _BETWEEN * (len(self.head) - 1)
        every = [self.head, *self.body]
        wanted = [max(1, *(_width(row[place]) for row in every)) for place in range(len(self.head))]
        if sum(wanted) <= room:
            return wanted
        for rows in (every, [self.head], []):  # no word is torn; no heading is; nothing but what is too narrow to read
            words = [max((_word(row[place]) for row in rows), default=0) for place in range(len(wanted))]
            least = [min(want, max(NARROW, min(word, LONG))) for want, word in zip(wanted, words, strict=True)]
            if sum(least) <= room:
                widths = _share(wanted, least, room)
                return None if _tall(self.body, widths) else widths
        return None

    def _row(self, row: Sequence[Cell], widths: Sequence[int]) -> list[Row]:
        wrapped = [
            [each for line in cell for each in rows_of(line, size)] for cell, size in zip(row, widths, strict=True)
        ]
        rows: list[Row] = []
        for place in range(max(len(cell) for cell in wrapped)):
            parts: list[Part] = []
            for column, (cell, size) in enumerate(zip(wrapped, widths, strict=True)):
                if column:
                    parts.append((" │ ", _BORDER))
                last = column == len(widths) - 1
                parts += _aligned(cell[place].parts if place < len(cell) else [], size, self.aligns[column], last=last)
            rows.append(Row(parts))
        return rows

    def _as_list(self, width: int, *, goes_on: bool) -> list[Row]:
        """Each row as names and values."""
        rows: list[Row] = []
        for place, row in enumerate(self.body):
            if place or goes_on:
                rows.append(Row([("─" * min(width, 12), _BORDER)], drawn=True))
            for name, value in zip(self.head, row, strict=True):
                if not any(line.parts for line in value):
                    continue
                lines = [Line([*(part for part in line.parts)]) for line in value]
                title: list[Part] = [part for line in name for part in line.parts]
                if title:
                    lines[0] = Line([*title, (": ", _HEAD), *lines[0].parts])
                for line in lines:
                    rows += framed(rows_of(line, width - 2), [], [("  ", PLAIN)])
        if not self.body and not goes_on:
            rows += [each for cell in self.head for line in cell for each in rows_of(line, width)]
        return rows


def _share(wanted: Sequence[int], least: Sequence[int], room: int) -> list[int]:
    """Widths between what is needed and what is wanted, the narrow columns first."""
    widths = list(least)
    free = room - sum(widths)
    hungry = [place for place, want in enumerate(wanted) if want > widths[place]]
    while free > 0 and hungry:
        share = max(1, free // len(hungry))
        for place in list(hungry):
            more = min(share, wanted[place] - widths[place], free)
            widths[place] += more
            free -= more
            if widths[place] >= wanted[place]:
                hungry.remove(place)
    return widths


def _tall(body: Sequence[Sequence[Cell]], widths: Sequence[int]) -> bool:
    """Whether a cell would be a tower."""
    return any(
        size < LONG * 2 and sum(1 + width_of(line.parts) // size for line in cell) > TALL
        for row in body
        for cell, size in zip(row, widths, strict=True)
    )


def _width(cell: Cell) -> int:
    return max((width_of(line.parts) for line in cell), default=0)


def _word(cell: Cell) -> int:
    """The widest word of a heading: it is not nice to tear those."""
    return max((cells(word) for line in cell for word in line.text.split()), default=0)


def _aligned(parts: Sequence[Part], size: int, align: Align, *, last: bool) -> list[Part]:
    free = max(0, size - width_of(list(parts)))
    left = free if align == "right" else free // 2 if align == "center" else 0
    right = 0 if last else free - left
    padded = [(" " * left, PLAIN)] if left else []
    return [*padded, *parts, *([(" " * right, PLAIN)] if right else [])]


def _border(widths: Sequence[int], line: str, cross: str) -> Row:
    text = f"{line}{cross}{line}".join(line * size for size in widths)
    return Row([(text, _BORDER)], drawn=True)


def read_table(tokens: "Sequence[Token]", place: int, links: list[Link]) -> tuple[Table, int]:
    """The table whose first token is at ``place``, and the place behind it."""
    head: list[Cell] = []
    body: list[list[Cell]] = []
    aligns: list[Align] = []
    row: list[Cell] = []
    in_head = True
    while place < len(tokens):
        token = tokens[place]
        place += 1
        if token.type == "table_close":
            break
        if token.type == "th_open":
            aligns.append(_align(str(token.attrs.get("style", ""))))
        elif token.type == "inline":
            lines, more = lines_of(token.children, _HEAD if in_head else PLAIN, breaks_as_html=True)
            row.append(lines)
            links += more
        elif token.type == "tr_close":
            if in_head:
                head, in_head = row, False
            else:
                body.append([*row, *([[Line()]] * (len(head) - len(row)))][: len(head)])
            row = []
    return Table(head, body, aligns), place


def _align(style: str) -> Align:
    return "right" if "right" in style else "center" if "center" in style else "left"
