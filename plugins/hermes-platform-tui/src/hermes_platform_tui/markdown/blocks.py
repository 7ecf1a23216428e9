"""Cuts a stream of markdown into blocks that will not change any more, so that each is parsed and laid out once.

Every line is looked at once, and no block grows without bound: long code, tables, lists and paragraphs are cut into
parts that are drawn as one. Where a part ends depends on the text only, never on the pieces it came in.
"""

import copy
import re
from typing import Literal

from hermes_core.patterns import pattern
from hermes_platform_tui.markdown.source import LONGEST, Block, Kind, Source
from hermes_platform_tui.markdown.unfinished import ambiguous

__all__ = ["TABLE_LINES", "Blocks"]

CODE_LINES, CODE_SIZE = 24, 1600  # of one part of a code block
TEXT_LINES = 80  # of one part of a paragraph
TABLE_LINES = 40  # of one part of a table

_FENCE = pattern(r"( {0,3})(`{3,}|~{3,})[ \t]*(?:([^`\s]*)[^`]*)$")
_INNER_FENCE = pattern(r"([\s>]*(?:[-*+]\s+|\d{1,9}[.)]\s+)*[\s>]*)(`{3,}|~{3,})([^`]*)$")
_HEADING = pattern(r" {0,3}#{1,6}(?:\s|$)")
_UNDERLINE = pattern(r" {0,3}(?:=+|-+)[ \t]*$")
_RULE = pattern(r" {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")
_ITEM = pattern(r"( {0,3})([-*+]|(\d{1,9})([.)]))(?: ( *)|\t|$)")
_QUOTE = pattern(r" {0,3}>")
_DELIMITER = pattern(r" {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_DEFINITION = pattern(r" {0,3}\[(?!\^)([^\[\]]{1,200})\]:[ \t]*<?([^\s<>]+)>?(?:[ \t]+[\"'(].*[\"')])?[ \t]*$")
_MATHS = {"$$": "$$", "\\[": "\\]"}


class Blocks(Source):
    """Text that is markdown."""

    def __init__(self) -> None:
        super().__init__()
        self._lines: list[str] = []  # of the block that has no end yet
        self._size = 0
        self._mode: Literal["", "text", "item", "quote", "table", "code", "indent", "maths"] = ""
        self._gap = True  # before the block that is being read
        self._blank = False  # the line before was empty
        self._continues = self._glued = False
        self._fence = self._margin = self._language = self._closing = ""
        self._before: Block | None = None
        self._inner: tuple[str, str] | None = None  # a fence in an item or quotation, with what stands before it
        self._marker = ""  # of the list we are in: "-", "*", "+", "." or ")"
        self._number: int | None = None
        self._content = self._shift = 0  # columns: where the text of an item begins, how much its lines move

    def _fork(self) -> "Blocks":
        fork = copy.copy(self)
        fork._lines = self._lines.copy()
        return fork

    def _waits_for_more(self) -> bool:
        return self._mode != "code" and not self._inner and not self._within and ambiguous(self._rest)

    # ends

    def _flush(self, done: list[Block], *, more: bool = False) -> None:
        """End the block; ``more`` says that the next one continues it."""
        if self._mode in ("item", "indent") and not more:
            self._strip_blanks()
        lines, first = self._lines, self._before is None
        text = "\n".join(lines)
        if text.strip() or (self._mode == "code" and (lines or first)):
            kind: Kind = "code" if self._mode in ("code", "indent") else "maths" if self._mode == "maths" else "text"
            block = Block(
                kind=kind,
                text=text,
                gap=self._gap,
                continues=self._continues,
                glued=self._glued,
                language=self._language if kind == "code" else "",
                number=self._number if self._mode == "item" else None,
                before=self._before,
            )
            done.append(block)
            if more and self._mode == "table":
                self._before = self._before or block
            elif more and kind == "code":
                self._before = block
        self._lines, self._size = [], 0
        self._glued = False
        self._continues, self._gap = more, not more
        if not more:
            self._mode, self._before, self._inner, self._shift = "", None, None, 0

    def _leave(self, done: list[Block]) -> None:
        """End the block and the list it was in."""
        self._flush(done)
        self._marker = ""

    def _break(self, done: list[Block]) -> None:
        if self._mode in ("", "maths", "table"):
            self._mode = "text"
        self._flush(done, more=True)
        self._glued = True

    def _end(self, done: list[Block]) -> None:
        if self._mode == "maths":
            self._mode = "text"  # it never ended
        self._leave(done)
        self._blank = False

    # lines

    def _add(self, line: str) -> None:
        self._lines.append(line)
        self._size += len(line) + 1

    def _take(self, line: str, done: list[Block]) -> None:
        if self._within:
            self._add(line)
            return
        if self._mode == "code":
            self._code(line, done)
            return
        if self._mode == "maths" and self._maths(line, done):
            return
        if self._inner:
            self._in_fence(line, done)
            return
        if not line.strip():
            self._empty(done)
            return
        if not self._starts(line, done):
            self._text(line, done)
        self._blank = False

    def _empty(self, done: list[Block]) -> None:
        self._blank = True
        if self._mode == "item" or self._mode == "indent":
            self._add("")
        else:
            self._flush(done)

    def _starts(self, line: str, done: list[Block]) -> bool:
        """Whether the line begins a block of another kind, which it then does."""
        inside = self._mode == "item" and line[: self._content].strip() == "" and line[0] in " \t"
        if inside:
            return False
        if fence := _FENCE.match(line):
            self._leave(done)
            self._mode, self._margin, self._fence, self._language = "code", fence[1], fence[2], fence[3] or ""
            return True
        if _HEADING.match(line):
            self._leave(done)
            self._mode = "text"
            self._add(line)
            self._leave(done)
            return True
        return self._starts_rule(line, done) or self._starts_other(line, done)

    def _starts_rule(self, line: str, done: list[Block]) -> bool:
        paragraph = self._mode == "text" and bool(self._lines)
        if paragraph and _UNDERLINE.match(line):
            self._add(line)
            self._leave(done)
            return True
        if not _RULE.match(line):
            return False
        self._leave(done)
        self._mode = "text"
        self._add(line)
        self._leave(done)
        return True

    def _starts_other(self, line: str, done: list[Block]) -> bool:
        if _QUOTE.match(line):
            if self._mode != "quote":
                self._leave(done)
                self._mode = "quote"
            return False
        if (opening := line.strip()[:2]) in _MATHS and self._starts_maths(line.strip(), _MATHS[opening], done):
            return True
        if self._lines and self._mode != "item":
            return False
        if not (self._marker and self._mode == "item") and (found := _DEFINITION.match(line)):
            self._leave(done)
            done.append(Block(kind="define", text=found[2], label=" ".join(found[1].split()).casefold(), gap=False))
            return True
        if line.startswith(("    ", "\t")) and self._mode == "":
            self._leave(done)
            self._mode, self._language = "indent", ""
        return False

    def _starts_maths(self, line: str, closing: str, done: list[Block]) -> bool:
        if line.endswith(closing) and len(line) > 4:
            self._leave(done)
            self._mode = "maths"
            self._add(line)
            self._flush(done)
            return True
        if closing in line[2:] or (closing == "\\]" and line != "\\["):
            return False
        self._leave(done)
        self._mode, self._closing = "maths", closing
        self._add(line)
        return True

    def _maths(self, line: str, done: list[Block]) -> bool:
        if not line.strip() or self._size > LONGEST:
            self._mode = "text"
            return False
        self._add(line)
        if line.rstrip().endswith(self._closing):
            self._flush(done)
        return True

    def _code(self, line: str, done: list[Block]) -> None:
        body = line.strip()
        if body.startswith(self._fence) and not body.strip(self._fence[0]) and len(line) - len(line.lstrip()) < 4:
            self._leave(done)
            return
        self._add(line.removeprefix(self._margin) if line.startswith(self._margin) else line.lstrip(" "))
        if len(self._lines) >= CODE_LINES or self._size > CODE_SIZE:
            self._flush(done, more=True)

    def _in_fence(self, line: str, done: list[Block]) -> None:
        """A line of code in an item or a quotation."""
        assert self._inner
        before, fence = self._inner
        body = line.lstrip(" \t>") if self._mode == "quote" else line.strip()
        indent = len(line) - len(line.lstrip())
        left = not _QUOTE.match(line) if self._mode == "quote" else bool(body) and indent + self._shift < self._content
        if left or (body.startswith(fence) and not body.rstrip().strip(fence[0])):
            self._inner = None
            if not left:
                self._add(self._moved(line))
                return
        if left:
            self._take(line, done)
            return
        self._add(self._moved(line))
        if self._size > LONGEST:
            mode = self._mode
            blank = before if mode == "quote" else " " * len(before)
            self._add(blank + fence)
            self._flush(done, more=True)
            if mode == "item":
                self._add(self._bullet())
            self._add(blank + fence)

    # text

    def _text(self, line: str, done: list[Block]) -> None:
        if self._mode == "indent" and not line.startswith(("    ", "\t")):
            self._flush(done)
        if self._mode == "indent":
            self._add(line[4:] if line.startswith("    ") else line[1:])
            if len(self._lines) >= CODE_LINES:
                self._flush(done, more=True)
            return
        if self._mode == "quote" and not _QUOTE.match(line) and _ITEM.match(line):
            self._flush(done)
        if self._mode != "quote" and self._item(line, done):
            return
        if self._mode == "table" or (self._mode == "text" and self._starts_table(line, done)):
            self._row(line, done)
            return
        if self._mode == "":
            self._mode = "text"
        line = self._moved(line)
        self._look_for_fence(line)
        self._add(line)
        many = self._mode == "text" and len(self._lines) >= TEXT_LINES
        if (self._size > LONGEST or many) and not self._inner:
            self._too_long(done)

    def _look_for_fence(self, line: str) -> None:
        if self._mode in ("item", "quote") and ("```" in line or "~~~" in line):
            found = _INNER_FENCE.match(line)
            if found and not (found[2][0] == "`" and "`" in found[3]):
                self._inner = found[1], found[2]

    def _strip_blanks(self) -> None:
        while self._lines and not self._lines[-1]:
            self._lines.pop()

    def _too_long(self, done: list[Block]) -> None:
        mode = self._mode
        self._flush(done, more=True)
        if mode == "item":
            self._add(self._bullet())

    def _bullet(self) -> str:
        """An item without text, so that what follows stands as deep as before."""
        return "-" if self._content < 3 else "1."

    def _moved(self, line: str) -> str:
        return " " * self._shift + line if self._shift and line.startswith(" ") else line

    def _item(self, line: str, done: list[Block]) -> bool:
        """Whether the line begins an item of a list, or ends the list by standing outside of it."""
        found = _ITEM.match(line)
        indent = len(line) - len(line.lstrip(" "))
        if self._mode == "item" and indent >= self._content:
            return False
        marker = (found[4] or found[2]) if found else ""
        if found and self._mode == "item" and indent >= 2 and marker in "-*+" and self._marker in ".)":
            self._shift = self._content - indent  # people indent by two what the standard wants indented by three
            return False
        if not found:
            if self._mode == "item" and self._blank and indent == 0:
                self._leave(done)
            return False
        if self._mode == "text" and self._lines and (found[3] not in (None, "1") or not line[found.end() :].strip()):
            return False  # the middle of a paragraph
        self._begin_item(found, marker, done)
        self._add(line)
        self._look_for_fence(line)
        return True

    def _begin_item(self, found: re.Match[str], marker: str, done: list[Block]) -> None:
        gap = self._blank or not (self._mode or self._marker)
        same = self._mode == "item" and self._marker == marker
        apart = self._mode not in ("", "text") and not same
        self._flush(done)
        number = int(found[3]) if found[3] else None
        if number is not None and same and self._number is not None and number <= self._number:
            number = self._number + 1
        self._mode, self._marker, self._number, self._gap = "item", marker, number, gap or apart
        spaces = len(found[5] or "")
        self._content = len(found[1]) + len(found[2]) + 1 + (spaces if spaces < 4 else 0)

    def _starts_table(self, line: str, done: list[Block]) -> bool:
        if not self._lines or "-" not in line or not _DELIMITER.match(line):
            return False
        if "|" not in self._lines[-1] or _columns(self._lines[-1]) != _columns(line):
            return False
        header = self._lines.pop()
        if self._lines:
            self._flush(done)
        self._mode = "table"
        self._add(header)
        return True

    def _row(self, line: str, done: list[Block]) -> None:
        self._add(line)
        if len(self._lines) >= TABLE_LINES:
            head = self._lines[:2]
            self._flush(done, more=True)
            for again in head:
                self._add(again)
            self._size = 0


def _columns(line: str) -> int:
    line = line.strip().replace("\\|", "")
    return line.removeprefix("|").removesuffix("|").count("|") + 1
