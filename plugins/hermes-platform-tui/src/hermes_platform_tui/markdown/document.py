"""A message as rows of a width: what is finished is laid out once, off-screen parts when there is time."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Any

from attrs import evolve, field

from hermes_core.values import define, frozen
from hermes_platform_tui.markdown.blocks import TABLE_LINES, Blocks
from hermes_platform_tui.markdown.layout import lay_out, read
from hermes_platform_tui.markdown.rows import Row
from hermes_platform_tui.markdown.search import Hit, folded, search
from hermes_platform_tui.markdown.source import Block, Lines, Source
from hermes_platform_tui.markdown.table import Table
from hermes_platform_tui.markdown.unfinished import healed

__all__ = ["CodeBlock", "Document", "Link"]

STEP = 6000  # characters laid out at once


@frozen
class CodeBlock:
    """Code of a message, whole."""

    language: str
    text: str
    first_row: int


@frozen
class Link:
    """A link or an image of a message."""

    text: str
    address: str


@define(slots=True, eq=False)
class _Entry:
    """A block with what is known of it."""

    block: Block
    gap: int
    height: int = 0
    links: list[Link] = field(factory=list)
    table: Table | None = None
    """What a long table has in its first part."""
    rows: list[Row] | None = None
    hits: list[Hit] | None = field(default=None)

    def guess(self, width: int) -> None:
        """Forget the rows; say how many they might be."""
        self.rows = self.hits = None
        lines = self.block.text.split("\n") if self.block.kind != "define" else []
        self.height = self.gap + sum(1 + max(0, len(line) - 1) // max(8, width) for line in lines) if lines else 0


class Document:
    """Source, blocks and rows of one message."""

    def __init__(self, *, markdown: bool = True) -> None:
        self._source: Source = Blocks() if markdown else Lines()
        self._pieces: list[str] = []
        self._entries: list[_Entry] = []
        self._tail: list[_Entry] = []
        self._tops: list[int] = []  # first row of each entry, as far as they are known, tail included
        self._references: dict[str, Any] = {}
        self._unsettled = 0  # entries before this one are laid out
        self.words = ""
        self.ended = False
        self.width = 0

    # text

    @property
    def text(self) -> str:
        """What was written so far."""
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""

    @property
    def parts(self) -> list[str]:
        """The text of the blocks that it was cut into."""
        return [entry.block.text for entry in (*self._entries, *self._tail)]

    def append(self, text: str) -> None:
        """Take more text. Its rows are not made yet."""
        self._pieces.append(text)
        for block in self._source.feed(text):
            self._add(block)

    def finish(self) -> None:
        """No more text comes."""
        if self.ended:
            return
        self.ended = True
        for block in self._source.finish():
            self._add(block)
        self._tail = []
        self.resolve()

    def _add(self, block: Block) -> None:
        if block.kind == "define":
            self._references.setdefault(_label(block.label), {"href": block.text, "title": ""})
        entry = self._entry(block, self._entries)
        del self._tops[len(self._entries) :]
        self._entries.append(entry)

    def _entry(self, block: Block, before: Sequence[_Entry]) -> _Entry:
        first = all(entry.block.kind == "define" for entry in before) if len(before) < 16 else False
        entry = _Entry(block, int(block.gap and not first))
        entry.guess(self.width)
        return entry

    def resolve(self) -> None:
        """Read those blocks again that name an address which was defined after them."""
        if not self._references:
            return
        labels = "|".join(re.escape(label.lower()) for label in self._references)
        named = re.compile(rf"\[(?:{labels})\]")
        for place, entry in enumerate(self._entries):
            if entry.rows is not None and entry.block.kind == "text" and named.search(entry.block.text.lower()):
                entry.guess(self.width)
                self._moved(place)

    def refresh_tail(self) -> None:
        """Lay out what may still change."""
        if self.ended:
            return
        del self._tops[len(self._entries) :]
        self._tail = []
        references = dict(self._references)
        for block in self._source.tail():
            shown = evolve(block, text=healed(block.text)) if block.kind == "text" else block
            entry = self._entry(shown, [*self._entries[:16], *self._tail])
            if block.kind == "define":
                references.setdefault(_label(block.label), {"href": block.text, "title": ""})
            self._tail.append(entry)
            self._lay_out(entry)

    # rows

    def resize(self, width: int) -> None:
        """Another width: everything is a guess until it is needed, or until there is time."""
        if width == self.width:
            return
        self.width = width
        for entry in self._entries:
            entry.guess(width)
        self._moved(0)
        self.refresh_tail()

    @property
    def height(self) -> int:
        """How many rows there are, as far as it is known."""
        self._measure()
        last = self._tail[-1] if self._tail else self._entries[-1] if self._entries else None
        return self._tops[-1] + last.height if last else 0

    @property
    def settled(self) -> bool:
        """Whether nothing is a guess."""
        while self._unsettled < len(self._entries) and self._entries[self._unsettled].rows is not None:
            self._unsettled += 1
        return self._unsettled >= len(self._entries)

    def settle(self, limit: int | None = STEP) -> bool:
        """Lay out some more, about ``limit`` characters. Tells whether all is done."""
        if not self.width:
            return True
        done = 0
        while not self.settled and (limit is None or done < limit):
            entry = self._entries[self._unsettled]
            done += len(entry.block.text) + 40
            self._lay_out(entry)
            self._moved(self._unsettled)
        return self.settled

    def row(self, place: int) -> Row | None:
        """The row at a place; nothing where there is none."""
        found = self._find(place)
        if found is None:
            return None
        entry, inside = found
        return entry.rows[inside - entry.gap] if entry.rows and inside >= entry.gap else None

    def hits_in(self, place: int) -> list[tuple[int, int]]:
        """Start and end of what was searched for in a row."""
        if not self.words:
            return []
        found = self._find(place)
        if found is None:
            return []
        entry, inside = found
        return [(hit.start, hit.end) for hit in self._hits(entry) if hit.row == inside - entry.gap]

    @property
    def tail_top(self) -> int:
        """The first row that may still change."""
        self._measure()
        return self._tops[len(self._entries)] if self._tail else self.height

    def _all(self) -> Iterator[tuple[int, _Entry]]:
        """Every entry with its first row, all laid out."""
        self.settle(None)
        self._measure()
        return zip(self._tops, [*self._entries, *self._tail], strict=True)

    def _find(self, place: int) -> tuple[_Entry, int] | None:
        while True:
            self._measure()
            index = bisect_right(self._tops, place) - 1
            if index < 0 or place < 0:
                return None
            count = len(self._entries)
            entry = self._entries[index] if index < count else self._tail[index - count]
            inside = place - self._tops[index]
            if entry.rows is None:
                self._lay_out(entry)
                self._moved(index)
                continue
            return (entry, inside) if inside < entry.height else None

    def _measure(self) -> None:
        """Know the first row of each entry."""
        known = len(self._tops)
        count = len(self._entries)
        if known == count + len(self._tail):
            return
        previous = self._entries[known - 1] if 0 < known <= count else self._tail[known - count - 1] if known else None
        top = self._tops[-1] + previous.height if previous else 0
        for entry in [*self._entries[known:], *self._tail[max(0, known - count) :]]:
            self._tops.append(top)
            top += entry.height

    def _moved(self, index: int) -> None:
        """The height of an entry is another one."""
        del self._tops[index + 1 :]
        self._unsettled = min(self._unsettled, index)

    def _lay_out(self, entry: _Entry) -> None:
        block = entry.block
        if block.kind == "define":
            entry.rows, entry.height = [], 0
            return
        content = read(block, self._references, self._first_of(block))
        entry.rows = lay_out(block, content, self.width)
        entry.height = len(entry.rows) + (entry.gap if entry.rows else 0)
        entry.hits = None
        # The tokens take more room than the rows, and are wanted again only for another width.
        entry.links = [Link(text, address) for text, address in content.links]
        entry.table = content.table if block.text.count("\n") + 1 >= TABLE_LINES else None

    def _first_of(self, block: Block) -> Table | None:
        """The first part of the table that this block goes on with."""
        if block.kind != "text" or block.before is None:
            return None
        for entry in reversed(self._entries):
            if entry.block is block.before:
                if entry.rows is None:
                    self._lay_out(entry)
                    self._moved(self._entries.index(entry))
                return entry.table
        return None

    # what is in it

    @property
    def code_blocks(self) -> list[CodeBlock]:
        """All code, parts put together."""
        found: list[CodeBlock] = []
        for top, entry in self._all():
            last = None
            for place, row in enumerate(entry.rows or ()):
                code = row.code
                if code is None or code is last:
                    continue
                last = code
                if code.continues and found:
                    whole = found.pop()
                    text = whole.text + ("" if code.glued else "\n") + code.text
                    found.append(CodeBlock(whole.language, text, whole.first_row))
                else:
                    found.append(CodeBlock(code.language, code.text, top + entry.gap + place))
        return found

    @property
    def links(self) -> list[Link]:
        """All links and images."""
        return [link for _, entry in self._all() for link in entry.links]

    def find(self, words: str) -> list[int]:
        """The rows in which the words begin."""
        words = folded(words)
        found = ((top + entry.gap, search(entry.rows or [], words)) for top, entry in self._all())
        return sorted({top + hit.row for top, hits in found for hit in hits if hit.begins})

    def search(self, words: str) -> None:
        """Tell from now on where these words are in a row."""
        words = folded(words)
        if words != self.words:
            self.words = words
            for entry in (*self._entries, *self._tail):
                entry.hits = None

    def _hits(self, entry: _Entry) -> list[Hit]:
        if entry.hits is None:
            entry.hits = list(search(entry.rows or [], self.words))
        return entry.hits

    def copy(self, start: tuple[int, int] | None, end: tuple[int, int] | None) -> str:
        """The text between two places (row and character), without what is only drawn."""
        place, begin = start or (0, 0)
        last, stop = end or (-1, None)
        done = ""
        continues = False
        code_only = (row := self.row(place)) is not None and row.code is not None
        # Rows that were a guess move those after them, so the number of rows is looked at each time.
        while place < self.height and (end is None or place <= last):
            row = self.row(place)
            here = stop if place == last else None
            if row is not None and not row.drawn:
                text = row.text[max(begin, row.lead) : here]
                keep = "" if continues or code_only or begin >= max(1, row.lead) else row.keep
                continues = row.join != "\n"
                done += keep + (text if row.join == "" or here is not None else text.rstrip())
                done += "" if place == last else row.join
            elif row is None and done:
                done += "\n"
            place, begin = place + 1, 0
        return done.strip("\n") if start is None or end is None else done


def _label(label: str) -> str:
    from markdown_it.common.utils import normalizeReference

    return normalizeReference(label)
