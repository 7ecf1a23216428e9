"""Text that comes in pieces, cut into blocks: what they are, and how they are cut where nothing is markdown."""

import copy
from typing import Literal

from attrs import field

from hermes_core.values import frozen

__all__ = ["LONGEST", "Block", "Kind", "Lines", "Source"]

LONGEST = 4000  # characters of a block that is not finished

Kind = Literal["text", "code", "maths", "plain", "define"]


@frozen(kw_only=True, eq=False)
class Block:
    """A piece of markdown that can be parsed alone. It is part of a longer one if it ``continues``."""

    kind: Kind
    text: str
    gap: bool = True
    """Whether an empty row sets it off from what is before it."""
    continues: bool = False
    glued: bool = False
    """Whether it begins within a line."""
    language: str = ""
    number: int | None = None
    label: str = ""
    before: "Block | None" = field(default=None, repr=False)
    """For code the part before, for a table its first part."""


class Source:
    """Takes text as it comes, gives back blocks as they become certain."""

    def __init__(self) -> None:
        self._rest = ""  # of the line that has no end yet
        self._within = False  # a line that is longer than a block may be

    def feed(self, text: str) -> list[Block]:
        """Blocks that this piece of text finished."""
        lines = (self._rest + text).split("\n")
        done: list[Block] = []
        for line in lines[:-1]:
            rest = self._cut(line, done)
            self._take(rest, done)
            self._within = False
        self._rest = self._cut(lines[-1], done)
        return done

    def finish(self) -> list[Block]:
        """The blocks that are left at the end of the text."""
        done: list[Block] = []
        rest, self._rest = self._rest, ""
        if rest:
            self._take(rest, done)
        self._within = False
        self._end(done)
        return done

    def tail(self) -> list[Block]:
        """What ``finish`` would give now; the stream goes on."""
        fork = self._fork()
        if fork._waits_for_more():
            fork._rest = ""
        return fork.finish()

    def _waits_for_more(self) -> bool:
        """Whether the line at the end would be shown as what it will hardly stay."""
        return False

    def _cut(self, line: str, done: list[Block]) -> str:
        while len(line) > LONGEST:
            cut = line.rfind(" ", LONGEST // 2, LONGEST)
            cut = LONGEST if cut < 0 else cut + 1
            self._take(line[:cut], done)
            self._break(done)
            self._within = True
            line = line[cut:]
        return line

    def _fork(self) -> "Source":
        raise NotImplementedError

    def _take(self, line: str, done: list[Block]) -> None:
        raise NotImplementedError

    def _break(self, done: list[Block]) -> None:
        """End the block in the middle of a line."""
        raise NotImplementedError

    def _end(self, done: list[Block]) -> None:
        raise NotImplementedError


class Lines(Source):
    """Text that is shown as it was written."""

    def __init__(self) -> None:
        super().__init__()
        self._lines: list[str] = []
        self._size = 0
        self._continues = self._glued = False

    def _fork(self) -> "Lines":
        fork = copy.copy(self)
        fork._lines = self._lines.copy()
        return fork

    def _take(self, line: str, done: list[Block]) -> None:
        self._lines.append(line)
        self._size += len(line) + 1
        if self._size > LONGEST // 2:
            self._end(done)

    def _break(self, done: list[Block]) -> None:
        self._end(done)
        self._glued = True

    def _end(self, done: list[Block]) -> None:
        if self._lines:
            text = "\n".join(self._lines)
            done.append(Block(kind="plain", text=text, gap=False, continues=self._continues, glued=self._glued))
        self._lines, self._size, self._glued, self._continues = [], 0, False, True
