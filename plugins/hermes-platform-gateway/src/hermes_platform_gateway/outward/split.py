"""Splitting a long message at a platform's limit, without breaking what is written in markdown.

A message is cut where a reader would turn the page: between paragraphs, before a heading, list item, table or code
block, at a line's end, at a sentence's end, at a space; in the middle of a word only if it is longer than a message.
Inline code, links and what is set in bold stay in one piece, and so does every letter with its accents. A code block
that has to be cut is closed and opened again.
"""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator

from hermes_core.patterns import pattern
from hermes_core.values import frozen

__all__ = ["split_text"]

SMALLEST = 20
_FENCE = pattern(r"( *)(`{3,}|~{3,})([^`\n]*)")
_NAMED = pattern(r" *(`{3,}|~{3,}) ?[\w+#.-]*")  # by a language, and nothing else that would be said twice
_LIST = pattern(r"\s*([-*+•]|\d{1,9}[.)])\s")
_SPAN = pattern(
    r"(?<!`)(?P<ticks>`+)(?!`)[^\n]*?[^`\n](?P=ticks)(?!`)"  # inline code
    r"|!?\[[^\[\]\n]*\]\([^)\n]{0,2000}\)|<?https?://[^\s>]+>?"  # links
    r"|(?P<bold>\*\*|__|~~|\|\|)(?=\S)[^\n]{0,2000}?\S(?P=bold)"
    r"|(?<!\w)(?P<slant>[*_])(?=[^\s*_])[^*_\n]*[^\s*_](?P=slant)(?!\w)"
)
_SENTENCE = pattern(r"[.!?…。！？]['\")\]]*(?:\s|(?<=[。！？]))")
_SPACE = pattern(r"[ \t]")
_LONGEST_CLUSTER = 64
_PARAGRAPH, _BLOCK, _ITEM, _LINE, _CODE, _TABLE, _HEADED = range(7)  # the better a place to cut, the smaller


@frozen
class _Place:
    """The start of a line: how bad it would be to cut there, and the line that opened the code block it lies in."""

    at: int
    cost: int
    opened: str = ""
    closes: bool = False


def split_text(text: str, limit: int, length: Callable[[str], int] = len) -> list[str]:
    """The text in pieces of at most ``limit`` by the ``length`` of the service; 0 means no limit.

    White space around a cut is dropped, and no piece is blank. Raises ValueError for a limit below 20.
    """
    if not limit or length(text) <= limit:
        return [text]
    if limit < SMALLEST:
        raise ValueError(f"a limit of {limit} characters cannot hold a message")
    return list(_Splitter(text, limit, length).pieces()) or [text[: limit // 2]]


class _Splitter:
    def __init__(self, text: str, limit: int, length: Callable[[str], int]) -> None:
        self._text, self._limit, self._length = text, limit, length
        self._places = list(_places(text, limit))
        self._starts = [place.at for place in self._places]
        self._closer = max((len(_closing(place.opened)) for place in self._places if place.opened), default=-1) + 1
        self._spans = [match.span() for match in _SPAN.finditer(text)]

    def pieces(self) -> Iterator[str]:
        at, opened = 0, ""
        while at < len(self._text):
            prefix = f"{opened}\n" if opened else ""
            room = self._limit - self._length(prefix)
            if at + room >= len(self._text) and self._length(self._text[at:]) <= room:
                cut, after, closing, still = len(self._text), len(self._text), "", ""
            else:
                cut = self._cut(at, at + self._fit(at, room - self._closer))
                after, closing, still = self._after(cut)
            body = self._text[at:cut].rstrip("\n") if closing else self._text[at:cut].rstrip()
            if body.strip():
                yield prefix + body + closing
            at, opened = after, still if self._text[after:].strip() else ""

    def _fit(self, at: int, room: int) -> int:
        """How many characters from a place on have room."""
        if self._length is len:
            return room
        return max(bisect_right(range(room), room, key=lambda n: self._length(self._text[at : at + n])) - 1, 1)

    def _after(self, cut: int) -> tuple[int, str, str]:
        """Where the next piece starts, what closes a code block that is cut in two, and the line that opened it."""
        place = self._places[bisect_right(self._starts, cut) - 1]
        opened, closing = place.opened, f"\n{_closing(place.opened)}" if place.opened else ""
        if place.closes and place.at == cut:  # the piece is closed there anyway
            ends = self._text.find("\n", cut)
            cut, opened = (len(self._text) if ends < 0 else ends), ""
        if opened:
            return cut + (self._text[cut : cut + 1] == "\n"), closing, opened
        rest = self._text[cut:]
        blank = len(rest) - len(rest.lstrip())
        line = rest.rfind("\n", 0, blank)
        return cut + (line + 1 if line >= 0 else blank), closing, ""  # how far a line is set in means something

    def _cut(self, at: int, end: int) -> int:
        """The best place to cut between two places, and not before there is something to send."""
        room = end - at
        half = at + room // 2
        if cut := (
            self._line(half, end, _LINE) or self._line(at + room // 4, end, _ITEM) or self._line(half, end, _TABLE)
        ):
            return cut
        for first in (half, at + 1):
            if cut := self._gap(_SENTENCE, at, first, end) or self._gap(_SPACE, at, first, end):
                return cut
            if cut := self._line(at + 1, end, _HEADED):
                return cut
        return _whole(self._text, at, self._span_start(at, end))

    def _line(self, first: int, end: int, worst: int) -> int:
        """The last of the best starts of lines; 0 when there is none that good."""
        near = self._places[bisect_left(self._starts, max(first, 1)) : bisect_right(self._starts, end)]
        good = [place for place in near if place.cost <= worst]
        return min(good, key=lambda place: (place.cost, -place.at)).at if good else 0

    def _gap(self, gap: re.Pattern[str], at: int, first: int, end: int) -> int:
        """The last gap between words that lies in no span; 0 when there is none."""
        found = [match.end() for match in gap.finditer(self._text, at, end) if match.end() >= first]
        return next((cut for cut in reversed(found) if self._span_start(at, cut) == cut), 0)

    def _span_start(self, first: int, cut: int) -> int:
        """The place itself, or the start of the span it lies in, if that is after ``first``."""
        nearest = bisect_left(self._spans, (cut, cut)) - 1
        if nearest >= 0 and first < self._spans[nearest][0] < cut < self._spans[nearest][1]:
            return self._spans[nearest][0]
        return cut


def _places(text: str, limit: int) -> Iterator[_Place]:
    """Every start of a line."""
    at, opened, before = 0, "", "blank"
    for line in text.split("\n"):
        fence = _FENCE.fullmatch(line.rstrip())
        kind = _kind(line, opened, fence if fence and len(fence[1] + fence[2]) <= limit // 5 else None)
        yield _Place(at, _cost(kind, before), opened, kind == "close")
        if kind == "open":
            named = len(line.rstrip()) <= limit // 4 and _NAMED.fullmatch(line.rstrip())
            opened = line.rstrip() if named else line[: len(_closing(line))]
        elif kind == "close":
            opened = ""
        at, before = at + len(line) + 1, kind


def _kind(line: str, opened: str, fence: re.Match[str] | None) -> str:
    if opened:
        marks = _closing(opened).strip()
        closes = fence and not fence[3].strip() and fence[2][0] == marks[0] and len(fence[2]) >= len(marks)
        return "close" if closes else "code"
    if fence:
        return "open"
    words = line.strip()
    if not words:
        return "blank"
    if words.startswith("|") and words.endswith("|") and len(words) > 1:
        return "table"
    return "heading" if words.startswith("#") else "item" if _LIST.match(line) else "more" if line[0] == " " else "text"


def _cost(kind: str, before: str) -> int:
    if before in ("heading", "open"):
        return _HEADED
    if kind in ("code", "close") or (kind == "more" and before != "blank"):  # what goes on with a list item
        return _CODE
    if kind == before == "table":
        return _TABLE
    if before == "blank":
        return _PARAGRAPH
    if kind in ("heading", "open", "table") or before == "close":
        return _BLOCK
    return _ITEM if kind == "item" else _LINE


def _closing(opened: str) -> str:
    """The line that closes a code block, set in like the one that opened it."""
    match = _FENCE.match(opened)
    return match[1] + match[2] if match else ""


def _whole(text: str, first: int, cut: int) -> int:
    """The place, or one a little before it, where no letter is cut in two."""
    for at in range(cut, max(first, cut - _LONGEST_CLUSTER), -1):
        if not _joined(text, at):
            return at
    return cut


def _joined(text: str, at: int) -> bool:
    """Whether the characters before and after a place are seen as one."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    if after.isascii():
        return before == "\r" and after == "\n"
    if "\u200d" in (before, after) or "\U0001f3fb" <= after <= "\U0001f3ff" or "\U000e0020" <= after <= "\U000e007f":
        return True  # joined emoji, skin tones, flags of regions
    if _is_flag(before) and _is_flag(after):
        start = at
        while start and _is_flag(text[start - 1]):
            start -= 1
        return (at - start) % 2 == 1
    return unicodedata.category(after) in ("Mn", "Me", "Mc") or "\u1160" <= after <= "\u11ff"


def _is_flag(letter: str) -> bool:
    return "\U0001f1e6" <= letter <= "\U0001f1ff"
