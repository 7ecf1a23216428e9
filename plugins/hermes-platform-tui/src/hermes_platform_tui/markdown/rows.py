"""Lines of text with looks, and the rows they are wrapped to. Nothing here knows of colours or of a screen."""

from typing import Literal, NamedTuple

from attrs import field

from hermes_core.patterns import pattern
from hermes_core.values import define
from hermes_platform_tui.markdown.width import breaks, cells, expand, graphemes, plain

__all__ = ["PLAIN", "Code", "Line", "Look", "Part", "Row", "framed", "hard_rows", "rows_of"]


class Look(NamedTuple):
    """How a stretch of text looks: names of component classes, and where it leads."""

    roles: tuple[str, ...] = ()
    link: str = ""

    def also(self, role: str) -> "Look":
        """This look with one role more."""
        return self if role in self.roles else Look((*self.roles, role), self.link)


PLAIN = Look()
Part = tuple[str, Look]

# What belongs to the letter before it, in whatever look that one is.
_JOINING = pattern(
    "(?:[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f\U0001f3fb-\U0001f3ff"
    "\U000e0000-\U000e007f]|\u200d.)+"
)


class Line:
    """Text without line ends, with the look of each stretch of it."""

    __slots__ = ("parts",)

    def __init__(self, parts: list[Part] | None = None) -> None:
        self.parts: list[Part] = parts or []

    def add(self, text: str, look: Look = PLAIN) -> None:
        """Write on. No letter is torn from its marks, so that each stretch is as wide alone as in the line."""
        if self.parts and not text.isascii() and (joining := _JOINING.match(text)):
            before, old = self.parts[-1]
            self.parts[-1] = before + joining[0], old
            text = text[joining.end() :]
        if not text:
            return
        if self.parts and self.parts[-1][1] == look:
            self.parts[-1] = self.parts[-1][0] + text, look
        else:
            self.parts.append((text, look))

    @property
    def text(self) -> str:
        """What it says."""
        return "".join(text for text, _ in self.parts)

    def cut(self, start: int, end: int) -> list[Part]:
        """The stretches between two places."""
        found: list[Part] = []
        place = 0
        for text, look in self.parts:
            after = place + len(text)
            if after > start and place < end:
                found.append((text[max(0, start - place) : end - place], look))
            place = after
            if place >= end:
                break
        return found


Join = Literal["\n", " ", ""]


@define(slots=True, eq=False)
class Code:
    """Code that rows show."""

    language: str
    text: str
    continues: bool = False
    glued: bool = False


@define(slots=True, eq=False)
class Row:
    """One row of the screen. ``lead`` characters at its start are drawing, not text; ``join`` leads to the next row."""

    parts: list[Part]
    lead: int = 0
    keep: str = ""
    """What a copy has instead of the lead, if the row does not go on with the one before."""
    join: Join = "\n"
    fill: Look | None = None
    """The look of the room that the text leaves."""
    drawn: bool = False
    """Whether it is drawing as a whole."""
    code: Code | None = None
    _text: str | None = field(default=None, init=False)

    @property
    def text(self) -> str:
        """All that it shows."""
        if self._text is None:
            self._text = "".join(text for text, _ in self.parts)
        return self._text


def rows_of(line: Line, width: int) -> list[Row]:
    """The rows of a line, broken at spaces where possible."""
    text = line.text
    if "\t" in text:
        line = Line([(part.replace("\t", " "), look) for part, look in line.parts])
        text = line.text
    if len(text) <= width and plain(text):
        return [Row(line.parts)]
    ends = breaks(text, width)
    rows = [Row(line.cut(start, end)) for start, end in ends]
    for place, row in enumerate(rows[:-1]):
        row.join = " " if ends[place][1] < ends[place + 1][0] else ""
    return rows


def hard_rows(line: Line, width: int) -> list[Row]:
    """The rows of a line of code: each full, and no space is lost."""
    text = line.text
    if "\t" in text:
        line = _expanded(line, text)
        text = line.text
    if len(text) <= width and plain(text):
        return [Row(line.parts)]
    ends: list[tuple[int, int]] = []
    if plain(text):
        ends = [(start, min(start + width, len(text))) for start in range(0, len(text), width)]
    else:
        begin = used = 0
        for start, _, step in graphemes(text):
            if used + step > width:
                ends.append((begin, start))
                begin, used = start, 0
            used += step
        ends.append((begin, len(text)))
    return [Row(line.cut(start, end), join="\n" if end == ends[-1][1] else "") for start, end in ends]


def _expanded(line: Line, text: str) -> Line:
    """The line with its tabs as spaces."""
    done = Line()
    place = 0
    shown = ""
    for part, look in line.parts:
        place += len(part)
        after = expand(text[:place])
        done.add(after[len(shown) :], look)
        shown = after
    return done


def framed(rows: list[Row], first: list[Part], rest: list[Part], keep: str = "") -> list[Row]:
    """The rows with something drawn before each of them. A copy has ``keep`` before the first."""
    first_size, rest_size = (sum(len(text) for text, _ in parts) for parts in (first, rest))
    for place, row in enumerate(rows):
        row.parts = [*(rest if place else first), *row.parts]
        row.lead += rest_size if place else first_size
        row.keep = (" " * len(keep) if place else keep) + row.keep
        row._text = None
    return rows


def width_of(parts: list[Part]) -> int:
    """Columns that stretches of text take."""
    return sum(cells(text) for text, _ in parts)
