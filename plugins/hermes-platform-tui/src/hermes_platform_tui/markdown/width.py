"""How many columns text takes, and how to cut and wrap it by columns.

Widths are those that Textual itself reckons with (rich's tables), so that what is measured here is what it draws.
Text that runs from right to left keeps its logical order: terminals that can reorder it do so themselves, and
reordering it twice would make it unreadable there.
"""

from collections.abc import Iterator

from rich.cells import cell_len, split_graphemes

from hermes_core.patterns import pattern

__all__ = ["TAB", "breaks", "cells", "clip", "expand", "graphemes", "wrap"]

TAB = 4
Span = tuple[int, int, int]  # start, end, columns

# Characters of one column that join nothing: text of only these needs no look at each of them.
_PLAIN = pattern(
    "[ -~\xa0-\xac\xae-\u02ff\u0370-\u0482\u048a-\u0558\u1e00-\u1fff\u2010-\u2027\u2190-\u2193\u2200-\u22ff"
    "\u2500-\u25a9]*"
)
_CLOSING = frozenset("、。，．：；！？）］｝〕〉》」』】〙〗〟’”…ー々ゝゞァィゥェォッャュョぁぃぅぇぉっゃゅょ%‰℃")
_OPENING = frozenset("（［｛〔〈《「『【〘〖〝‘“")


def cells(text: str) -> int:
    """Columns that one line of text takes."""
    return len(text) if text.isascii() else cell_len(text)


def plain(text: str) -> bool:
    """Whether each character takes one column and joins no other."""
    return text.isascii() or _PLAIN.fullmatch(text) is not None


def graphemes(text: str) -> Iterator[Span]:
    """What must stay together: start, end and columns of each. Two letters of a flag are one."""
    flag: Span | None = None
    for span in split_graphemes(text)[0]:
        start, end, width = span
        regional = "\U0001f1e6" <= text[start] <= "\U0001f1ff"
        if flag and regional:
            yield flag[0], end, flag[2] + width
            flag = None
            continue
        if flag:
            yield flag
        flag = span if regional else None
        if not regional:
            yield span
    if flag:
        yield flag


def expand(line: str) -> str:
    """The line with its tabs as spaces up to the next stop."""
    if "\t" not in line:
        return line
    shown = ""
    for part in line.split("\t")[:-1]:
        shown += part
        shown += " " * (TAB - cells(shown[-TAB * 64 :]) % TAB)
    return shown + line.rpartition("\t")[2]


def clip(text: str, width: int) -> str:
    """One line, cut to ``width`` columns; a cut line ends in an ellipsis."""
    if "\n" in text or "\t" in text:
        text = " ".join(text.replace("\t", " ").split("\n"))
    if len(text) <= width // 2 or (len(text) <= width * 8 and cells(text) <= width):
        return text
    if width <= 0:
        return ""
    used = cut = 0
    for _, end, step in graphemes(text[: width * 8 + 64]):
        if used + step > width - 1:
            break
        used, cut = used + step, end
    else:
        if cut == len(text):
            return text
    return text[:cut] + "…"


def wrap(text: str, width: int) -> list[str]:
    """The rows of a text, broken at spaces where possible. No row is wider than ``width``, which is at least 2."""
    width = max(2, width)
    rows: list[str] = []
    for line in map(expand, text.split("\n")):
        rows += [line[start:end] for start, end in breaks(line, width)]
    return rows


def breaks(line: str, width: int) -> list[tuple[int, int]]:
    """Start and end of each row of one line without tabs; at least one row. Spaces at a break belong to no row."""
    if plain(line):
        return [(0, len(line))] if len(line) <= width else _plain_breaks(line, width)
    return _wide_breaks(line, width)


def _plain_breaks(line: str, width: int) -> list[tuple[int, int]]:
    rows: list[tuple[int, int]] = []
    start, size = 0, len(line)
    while size - start > width:
        cut = line.rfind(" ", start, start + width + 1)
        end = cut
        while end > start and line[end - 1] == " ":
            end -= 1
        if end <= start:  # no space, or only those that indent the line
            rows.append((start, start + width))
            start += width
            continue
        rows.append((start, end))
        start = cut + 1
        while start < size and line[start] == " ":
            start += 1
    if start < size or not rows:
        rows.append((start, size))
    return rows


def _wide_breaks(line: str, width: int) -> list[tuple[int, int]]:
    """The same by graphemes."""
    rows: list[tuple[int, int]] = []
    start = end = used = 0  # of the row that is being filled
    for first, last, step in _words(line):
        gap = first - end  # spaces
        if used + gap + step <= width:
            end, used = last, used + gap + step
            continue
        if line[start:end].strip(" "):
            rows.append((start, end))
        start, end, used = first, last, step
        if step > width:
            *full, (start, end) = _chop(line, first, last, width)
            rows += full
            used = cells(line[start:end])
    rows.append((start, end if used + len(line) - end > width else len(line)))
    return rows


def _words(line: str) -> Iterator[Span]:
    """What is kept on one row where it can be. Ideographs may part, but not before what closes or after what opens."""
    start = end = width = 0
    before, wide = "", False
    for first, last, step in graphemes(line):
        letter = line[first:last]
        if letter == " ":
            if end > start:
                yield start, end, width
            start, width = last, 0
        else:
            apart = (step == 2 or wide) and before not in _OPENING and letter not in _CLOSING
            if apart and end > start:
                yield start, end, width
                start, width = first, 0
            width += step
        end = last
        before, wide = letter, step == 2
    if end > start:
        yield start, end, width


def _chop(line: str, start: int, end: int, width: int) -> list[tuple[int, int]]:
    """A word that is wider than a row, in full rows."""
    rows: list[tuple[int, int]] = []
    used = 0
    begin = start
    for first, _, step in graphemes(line[start:end]):
        if used + step > width:
            rows.append((begin, start + first))
            begin, used = start + first, 0
        used += step
    rows.append((begin, end))
    return rows
