"""Big pastes, pictures and files: one word in the input, sent as what they are.

In the document a chip is a mark as long as its label, made of characters that no text may hold. So nobody can type
one, wrapping and the cursor count it right, and it is drawn as its label.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len, split_graphemes

from hermes_core.patterns import pattern
from hermes_core.values import frozen

if TYPE_CHECKING:
    from hermes_core.types import Blob

__all__ = ["ROOM", "START", "Chip", "Chips", "letter_at", "mark_at", "marks", "size_in_words"]

START, FILL, END = "\ufdd0", "\ufdd1", "\ufdef"
DIGITS = [chr(0xFDD2 + digit) for digit in range(16)]
PLACES = 4
ROOM = (400, 20_000)  # lines and characters that can be edited without delay; what is more is folded whatever it is
LONGEST = 64  # characters of one letter that are looked at
NAME = 14  # characters of a name that a label shows: a chip fits into a row of the smallest screen
_MARK = pattern(f"{START}([{DIGITS[0]}-{DIGITS[-1]}]{{{PLACES}}}){FILL}*{END}")


@frozen
class Chip:
    """``label`` is shown. ``text`` is sent in its place, ``blob`` beside the text."""

    label: str
    text: str
    blob: "Blob | None" = None


def marks(document: str) -> Iterator[tuple[int, int]]:
    """Where the marks of a line or a document begin and end."""
    return (found.span() for found in _MARK.finditer(document))


def mark_at(line: str, column: int) -> tuple[int, int] | None:
    """The mark that ``column`` is strictly inside of."""
    return next(((start, end) for start, end in marks(line) if start < column < end), None)


def letter_at(line: str, column: int) -> tuple[int, int] | None:
    """The letter that ``column`` is strictly inside of: one with accents, or an emoji of several."""
    if line[column].isascii():
        return None
    start = column - 1
    while start > 0 and not line[start].isascii() and column - start < LONGEST:
        start -= 1
    letters = split_graphemes(line[start : column + LONGEST])[0]
    return next(((start + a, start + b) for a, b, _ in letters if a < column - start < b), None)


class Chips:
    """The chips of one message. A limit of 0 collapses nothing."""

    def __init__(self, lines: int, characters: int) -> None:
        self._lines, self._characters = lines, characters
        self._chips: list[Chip] = []
        self._named: dict[str, int] = {}

    def fold(self, text: str, lines: int | None = None, characters: int | None = None) -> str:
        """What to put into the document for a text: itself, or a mark."""
        most_lines = self._lines if lines is None else lines
        most = self._characters if characters is None else characters
        count = text.count("\n") + (not text.endswith("\n"))
        if most_lines and count >= most_lines:
            size = f"{count:,} lines"
        elif most and len(text) >= most:
            size = f"{len(text):,} characters"
        else:
            return text
        return self._mark(Chip(label=f"[paste #{self._next('paste')}: {size}]", text=text))

    def attach(self, blob: "Blob", size: int) -> str:
        """The mark of a picture or a file."""
        kind = "image" if blob.media_type.startswith("image/") else "file"
        name, number = _short(blob), self._next(kind)
        said = f"[{kind} #{number}: {name}]"
        return self._mark(Chip(label=f"{said[:-1]} {size_in_words(size)}]", text=said, blob=blob))

    def clear(self) -> None:
        """Forget all of them; the next is the first again."""
        self._chips.clear()
        self._named.clear()

    def chip(self, mark: str) -> Chip | None:
        """The chip behind a mark."""
        found = _MARK.fullmatch(mark)
        return self._behind(found) if found else None

    def expand(self, document: str) -> str:
        """The text that is sent."""
        return self._replace(document, lambda chip, mark: chip.text)

    def label(self, document: str) -> str:
        """The text that is shown. As long as the document, so that positions in one are positions in the other."""
        return self._replace(document, lambda chip, mark: chip.label)

    def attachments(self, document: str) -> Sequence["Blob"]:
        """Pictures and files, in the order in which they stand."""
        chips = (self._behind(found) for found in _MARK.finditer(document))
        return [chip.blob for chip in chips if chip is not None and chip.blob is not None]

    def beside(self, line: str, column: int) -> tuple[str, Chip] | None:
        """The mark and the chip that end at ``column``, or else that begin there."""
        near = [(start, end) for start, end in marks(line) if column in (start, end)] if START in line else []
        found = ((line[start:end], self.chip(line[start:end])) for start, end in near)
        return next(((mark, chip) for mark, chip in found if chip is not None), None)

    def refold(self, text: str, document: str) -> list[str]:
        """A text that came back from an editor: each chip that is left unchanged as its mark, and what is between."""
        pieces = [text]
        for found in _MARK.finditer(document):
            chip = self._behind(found)
            at = next((at for at, piece in enumerate(pieces) if chip and chip.text in piece), None)
            if chip is not None and at is not None:
                before, _, after = pieces[at].partition(chip.text)
                pieces[at : at + 1] = [before, found[0], after]
        return [piece for piece in pieces if piece]

    def _replace(self, document: str, spell: Callable[[Chip, str], str]) -> str:
        if START not in document:
            return document

        def say(found: re.Match[str]) -> str:
            chip = self._behind(found)
            return spell(chip, found[0]) if chip else ""

        return _MARK.sub(say, document)

    def _next(self, kind: str) -> int:
        self._named[kind] = self._named.get(kind, 0) + 1
        return self._named[kind]

    def _mark(self, chip: Chip) -> str:
        number = len(self._chips)
        self._chips.append(chip)
        digits = "".join(DIGITS[number >> 4 * place & 15] for place in reversed(range(PLACES)))
        return START + digits + FILL * (len(chip.label) - PLACES - 2) + END

    def _behind(self, found: re.Match[str]) -> Chip | None:
        number = int("".join(f"{ord(digit) - 0xFDD2:x}" for digit in found[1]), 16)
        return self._chips[number] if number < len(self._chips) else None


def _short(blob: "Blob") -> str:
    """A name of characters that are one cell wide, or the end of its media type."""
    name = blob.name.replace("\n", " ").strip()
    if not name or not name.isprintable() or cell_len(name) != len(name) or any(cell_len(c) != 1 for c in name):
        name = blob.media_type.partition("/")[2].partition("+")[0][:NAME]
        name = name if name.isascii() and name.isprintable() else "?"
    if len(name) <= NAME:
        return name
    stem, dot, ending = name.rpartition(".")
    ending = f"{dot}{ending}" if stem and len(ending) <= 5 else ""
    return f"{name[: NAME - 1 - len(ending)]}…{ending}"


def size_in_words(size: int) -> str:
    """Bytes, short: ``812 B``, ``120 KB``, ``1.4 MB``."""
    if size < 1000:
        return f"{size} B"
    if size < 1_000_000:
        return f"{round(size / 1000)} KB"
    return f"{size / 1_000_000:.1f} MB"
