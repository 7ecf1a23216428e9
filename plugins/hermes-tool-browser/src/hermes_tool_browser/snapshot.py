"""What a model reads of a page: its accessibility tree with a reference at each element, in pieces of bounded size."""

import re
from collections.abc import Sequence

from hermes_core.values import frozen

__all__ = ["Element", "Snapshot"]

_PIECE = 8_000  # characters of one piece
_LINE = 400  # characters of one line, unless all is wanted
_LONGEST = 2_000_000  # characters of all
_REF = re.compile(r"\[ref=((?:f\d+)*e\d+)\]")
_ROLE = re.compile(r"^\s*- '?([\w-]+)(?: (\"(?:[^\"\\]|\\.)*\"))?")
_URL = re.compile(r"^\s*- /url: (.*)$")
_CURSOR = re.compile(r" \[cursor=pointer\]")
_TURNS = re.compile("[\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")  # what shows a text as it is not
_CHANGED = 3_000  # characters of what changed


@frozen(kw_only=True)
class Element:
    """What the last snapshot said of a reference: its role, its name, and where it leads if it is a link."""

    role: str
    name: str = ""
    url: str = ""


class Snapshot:
    """One look at a page. The references stay those of the same elements from one to the next."""

    def __init__(self, text: str, url: str) -> None:
        self.cut = len(text) > _LONGEST
        shown = _TURNS.sub("", _CURSOR.sub("", text[:_LONGEST]))
        self.url, self.lines = url, [line for line in shown.split("\n") if line.strip()]
        self._elements: dict[str, Element] | None = None
        self._pieces: dict[bool, Sequence[str]] = {}

    @property
    def elements(self) -> dict[str, Element]:
        """By reference."""
        if self._elements is None:
            self._elements = {}
            last = ""
            for line in self.lines:
                if (url := _URL.match(line)) and last:
                    known = self._elements[last]
                    self._elements[last] = Element(role=known.role, name=known.name, url=url[1].strip("\"'"))
                    continue
                ref, role = _REF.search(line), _ROLE.match(line)
                last = ref[1] if ref else ""
                if ref:
                    name = role[2][1:-1] if role and role[2] else ""
                    self._elements[ref[1]] = Element(role=role[1] if role else "generic", name=name)
        return self._elements

    def pieces(self, *, full: bool) -> Sequence[str]:
        """All of it in pieces; ``full`` with the addresses of links and whole lines."""
        if full not in self._pieces:
            self._pieces[full] = list(_cut(self._shown(full=full)))
        return self._pieces[full]

    def _shown(self, *, full: bool) -> list[str]:
        if full:
            return self.lines
        short = (line if len(line) <= _LINE else f"{line[:_LINE]}…" for line in self.lines if not _URL.match(line))
        return list(short)

    def piece(self, number: int, *, full: bool) -> str:
        """One piece, counted from 1, and how many there are."""
        pieces = self.pieces(full=full)
        if not pieces:
            return "(The page shows nothing.)"
        number = max(1, min(number, len(pieces)))
        more = " The rest was too long." if self.cut and number == len(pieces) else ""
        if len(pieces) == 1:
            return pieces[0] + more
        return f"{pieces[number - 1]}\n(piece {number} of {len(pieces)}; `page` gives the others.{more})"

    def changed(self, before: "Snapshot") -> str:
        """What is new since another look at the same page."""
        known, now = ([_plain(line) for line in one._shown(full=False)] for one in (before, self))
        old = set(known)
        new = [line.strip() for line in now if line not in old]
        gone = len(old.difference(now))
        if not new:
            return f"Nothing new is on the page; {gone} lines are gone." if gone else "The page looks as before."
        text = "\n".join(new)
        return f"New on the page:\n{text[:_CHANGED]}" + ("\n… (`browser_snapshot` gives all)" * (len(text) > _CHANGED))


def _plain(line: str) -> str:
    """A line without where the focus is."""
    return line.replace(" [active]", "")


def _cut(lines: Sequence[str]) -> Sequence[str]:
    """Pieces of whole lines; a line that is longer than one fills some."""
    pieces, piece, room = list[str](), list[str](), _PIECE
    for line in lines:
        for part in (line[at : at + _PIECE] for at in range(0, len(line), _PIECE)):
            if len(part) + 1 > room and piece:
                pieces.append("\n".join(piece))
                piece, room = [], _PIECE
            piece.append(part)
            room -= len(part) + 1
    return [*pieces, "\n".join(piece)] if piece else pieces
