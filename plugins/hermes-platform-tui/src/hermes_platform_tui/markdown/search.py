"""Words in rows, also where they go on in the next row."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hermes_platform_tui.markdown.rows import Row

__all__ = ["Hit", "folded", "search"]


class Hit(NamedTuple):
    """Where a row says what was searched for, or goes on saying it."""

    row: int
    start: int
    end: int
    begins: bool


def folded(words: str) -> str:
    """Words as they are compared."""
    return " ".join(words.casefold().split())


def search(rows: Sequence[Row], words: str) -> Iterator[Hit]:
    """Each place that says the words, which are folded."""
    said, tops = "", []
    for row in rows:
        tops.append(len(said))
        said += row.text[row.lead :].casefold() + row.join
    start = said.find(words)
    while start >= 0 and words:
        yield from _spans(rows, tops, start, start + len(words))
        start = said.find(words, start + len(words))


def _spans(rows: Sequence[Row], tops: Sequence[int], start: int, end: int) -> Iterator[Hit]:
    number = first = bisect_right(tops, start) - 1
    while number < len(rows) and tops[number] < end:
        row = rows[number]
        begin, stop = _letter(row, start - tops[number]), _letter(row, end - tops[number])
        if begin < stop:
            yield Hit(number, begin, stop, number == first)
        number += 1


def _letter(row: Row, place: int) -> int:
    """Which letter of a row a letter of its folded text comes from: some letters are folded to two."""
    text = row.text[row.lead :]
    if len(text.casefold()) == len(text):
        return row.lead + max(0, min(place, len(text)))
    used = 0
    for number, letter in enumerate(text):
        if used >= place:
            return row.lead + number
        used += len(letter.casefold())
    return len(row.text)
