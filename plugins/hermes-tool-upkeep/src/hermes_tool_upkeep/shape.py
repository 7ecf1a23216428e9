"""The file of a store as SQLite's format has it: its pages, their trees, and the rows on them.

It reads what SQLite itself refuses to: a page on which something is wrong costs the rows on it, not its table. The
format is at https://www.sqlite.org/fileformat2.html; no row is believed that does not fit into its page.
"""

import mmap
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

__all__ = ["LEAF", "Leaf", "Pages", "Value", "mended_head"]

Value: TypeAlias = int | float | str | bytes | None
MAGIC = b"SQLite format 3\0"
LEAF, INNER = 0x0D, 0x05  # pages of tables; those of indexes are made anew
_SIZE = 4096
_MOST_COLUMNS = 200


class Leaf(NamedTuple):
    """A row: its number, and the values of its columns."""

    number: int
    values: Sequence[Value]


class Pages:
    """The pages of a file, by number from 1."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            empty = not file.seek(0, 2)
            self._data: bytes | mmap.mmap = b"" if empty else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        said = struct.unpack(">H", self._data[16:18])[0] if len(self._data) > 18 else 0
        self.size = said if said in (512, 1024, 2048, 4096, 8192, 16384, 32768) else 65536 if said == 1 else _SIZE
        self.count = len(self._data) // self.size

    def page(self, number: int) -> bytes:
        """Return a page; empty where there is none."""
        return self._data[(number - 1) * self.size : number * self.size] if 0 < number <= self.count else b""

    def kind(self, number: int) -> int:
        """Return what kind of page it says it is."""
        page = self.page(number)
        return page[100 if number == 1 else 0] if page else 0

    def free(self) -> set[int]:
        """Return the pages that hold nothing any more."""
        found, trunk = set[int](), struct.unpack(">I", self._data[32:36])[0] if self.count else 0
        while 0 < trunk <= self.count and trunk not in found:
            found.add(trunk)
            page = self.page(trunk)
            trunk, many = struct.unpack(">II", page[:8])
            many = min(many, self.size // 4 - 2)
            found.update(n for n in struct.unpack(f">{many}I", page[8 : 8 + 4 * many]) if 0 < n <= self.count)
        return found

    def below(self, root: int) -> set[int]:
        """Return the pages of a table's tree that can be reached from its root."""
        seen, left = set[int](), [root]
        while left:
            number = left.pop()
            if number in seen or not 0 < number <= self.count:
                continue
            seen.add(number)
            if self.kind(number) == INNER:
                left += self._children(number)
        return seen

    def said(self, number: int) -> int:
        """Return how many rows a leaf says it has; 0 for other pages."""
        page, head = self.page(number), 100 if number == 1 else 0
        return struct.unpack(">H", page[head + 3 : head + 5])[0] if page and page[head] == LEAF else 0

    def rows(self, number: int) -> Iterator[Leaf]:
        """Read the rows of a leaf of a table that are whole."""
        page, head = self.page(number), 100 if number == 1 else 0
        if not page or page[head] != LEAF:
            return
        many = min(struct.unpack(">H", page[head + 3 : head + 5])[0], self.size // 4)
        for at in range(head + 8, head + 8 + 2 * many, 2):
            try:
                start = struct.unpack(">H", page[at : at + 2])[0]
                if start >= head + 8 + 2 * many:
                    yield self._row(page, start)
            except (ValueError, IndexError, struct.error):
                continue

    def _children(self, number: int) -> Iterator[int]:
        page, head = self.page(number), 100 if number == 1 else 0
        many = min(struct.unpack(">H", page[head + 3 : head + 5])[0], self.size // 4)
        yield struct.unpack(">I", page[head + 8 : head + 12])[0]
        for at in range(head + 12, min(head + 12 + 2 * many, self.size - 1), 2):
            start = struct.unpack(">H", page[at : at + 2])[0]
            if start <= self.size - 4:
                yield struct.unpack(">I", page[start : start + 4])[0]

    def _row(self, page: bytes, start: int) -> Leaf:
        length, at = _number(page, start)
        number, at = _number(page, at)
        if number >= 1 << 63:
            number -= 1 << 64
        body = self._payload(page, at, length)
        head, at = _number(body, 0)
        kinds: list[int] = []
        while at < head:
            kind, at = _number(body, at)
            kinds.append(kind)
        if at != head or not 0 < len(kinds) <= _MOST_COLUMNS:
            raise ValueError("no row begins like this")
        values: list[Value] = []
        for kind in kinds:
            value, at = _value(body, at, kind)
            values.append(value)
        if at != length:
            raise ValueError("its columns are not as long as it")
        return Leaf(number, values)

    def _payload(self, page: bytes, at: int, length: int) -> bytes:
        """Read a row, with what of it lies on pages of its own."""
        if length > len(self._data):
            raise ValueError("it is longer than the file")
        most = self.size - 35
        if length <= most:
            body = page[at : at + length]
        else:
            least = (self.size - 12) * 32 // 255 - 23
            here = least + (length - least) % (self.size - 4)
            here = here if here <= most else least
            body = page[at : at + here]
            following, seen = struct.unpack(">I", page[at + here : at + here + 4])[0], set[int]()
            while len(body) < length:
                more = self.page(following)
                if not more or following in seen:
                    raise ValueError("a page of it is not there")
                seen.add(following)
                following = struct.unpack(">I", more[:4])[0]
                body += more[4 : 4 + length - len(body)]
        if len(body) != length:
            raise ValueError("it does not fit into its page")
        return body


def _number(data: bytes, at: int) -> tuple[int, int]:
    """Read a number of one to nine bytes, and say where the next thing begins."""
    value = 0
    for count in range(8):
        byte = data[at + count]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + count + 1
    return value << 8 | data[at + 8], at + 9


def _value(body: bytes, at: int, kind: int) -> tuple[Value, int]:
    if kind in (0, 8, 9):
        return (None, 0, 1)[(0, 8, 9).index(kind)], at
    if kind in (10, 11):
        raise ValueError("no column is of this kind")
    length = (1, 2, 3, 4, 6, 8, 8)[kind - 1] if kind < 8 else (kind - 12) // 2
    data = body[at : at + length]
    if len(data) != length:
        raise ValueError("it ends too early")
    if kind < 7:
        return int.from_bytes(data, "big", signed=True), at + length
    if kind == 7:
        return struct.unpack(">d", data)[0], at + length
    return data.decode(errors="replace") if kind % 2 else data, at + length


def mended_head(path: Path) -> bool:
    """Put right the fields of a file's head that are the same in every store; whether one was wrong."""
    with path.open("r+b") as file:
        head = bytearray(file.read(100))
        if len(head) < 100:
            return False
        before = bytes(head)
        said = struct.unpack(">H", head[16:18])[0]
        head[:16], head[20:24] = MAGIC, b"\0@  "
        if said != 1 and (said < 512 or said & said - 1):
            head[16:18] = struct.pack(">H", _SIZE)
        head[18:20] = before[18:20] if before[18:20] in (b"\1\1", b"\2\2") else b"\2\2"
        head[44:48], head[56:60] = struct.pack(">I", 4), struct.pack(">I", 1)
        head[72:92] = bytes(20)
        file.seek(0)
        file.write(head)
    return bytes(head) != before
