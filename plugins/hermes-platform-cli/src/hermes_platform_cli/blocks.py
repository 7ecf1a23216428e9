"""Cutting a stream of markdown into blocks that will not change any more, so that each is rendered once."""

import re
from typing import Literal

from hermes_core.values import frozen

__all__ = ["Block", "Blocks", "Lines"]

CODE_PART = 24  # lines of an open code block that are shown at once

_FENCE = re.compile(r"( {0,3})(`{3,}|~{3,})[ \t]*([^`\s]*)[^`]*$")
_INNER_FENCE = re.compile(r"\s+(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}#{1,6}(?:\s|$)")
_RULE = re.compile(r" {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")
_BULLET = re.compile(r" {0,1}([-*+])(?:\s|$)")
_NUMBER = re.compile(r" {0,1}(\d{1,9})([.)])(?:\s|$)")


@frozen(kw_only=True)
class Block:
    """A finished piece of markdown. ``gap`` asks for an empty row before it; ``fresh`` begins a new code block."""

    kind: Literal["text", "code"]
    text: str
    language: str = ""
    gap: bool = True
    fresh: bool = True


class Blocks:
    """Takes text as it comes and gives back blocks as they become certain. Every line is looked at once."""

    def __init__(self) -> None:
        self._pieces: list[str] = []  # of the line that has no end yet
        self._lines: list[str] = []  # of the block that has no end yet
        self._fence = self._indent = self._language = ""
        self._inner = ""  # the fence of a code block inside a list item
        self._list = ""  # the marker of the list we are in: "-", "*", "+", "." or ")"
        self._number = 0
        self._gap = self._fresh = True

    def feed(self, text: str) -> list[Block]:
        """Blocks that this piece of text finished."""
        if "\n" not in text:
            self._pieces.append(text)
            return []
        lines = ("".join(self._pieces) + text).split("\n")
        self._pieces = [lines.pop()]
        return [block for line in lines for block in self._line(line)]

    def finish(self) -> list[Block]:
        """The blocks that are left at the end of the text."""
        rest, self._pieces = "".join(self._pieces), []
        done = self._line(rest) if rest else []
        done += self._close_code() if self._fence else self._flush()
        self._list = self._inner = ""
        self._number = 0
        self._gap = True
        return done

    def tail(self, limit: int) -> list[str]:
        """The last lines of the unfinished block, at most about ``limit`` characters of them."""
        taken: list[str] = []
        size = 0
        for piece in reversed(self._pieces):
            taken.append(piece)
            size += len(piece)
            if size >= limit:
                return "".join(reversed(taken)).split("\n")
        lines = ["".join(reversed(taken))] if size else []
        for line in reversed(self._lines):
            if size >= limit:
                break
            lines.insert(0, line)
            size += len(line) + 1
        return lines

    def _line(self, line: str) -> list[Block]:
        if self._fence:
            return self._code(line)
        if self._inner:
            self._lines.append(line)
            if line.strip().startswith(self._inner) and not line.strip().strip(self._inner[0]):
                self._inner = ""
            return []
        if not line.strip():
            return self._blank()
        fence = _FENCE.match(line)
        if fence and not (self._list and fence[1]):
            done = self._flush()
            self._list = ""
            self._indent, self._fence, self._language = fence[1], fence[2], fence[3]
            return done
        if self._list and line[0] in " \t" and (inner := _INNER_FENCE.match(line)):
            self._inner = inner[1]
            self._lines.append(line)
            return []
        if _HEADING.match(line) or (_RULE.match(line) and (not self._lines or self._list)):
            done = self._flush()
            self._list = ""
            self._lines.append(line)
            return done + self._flush()
        return self._text(line)

    def _text(self, line: str) -> list[Block]:
        """A line of a paragraph, list, quotation or table."""
        done: list[Block] = []
        spaced = bool(self._lines) and not self._lines[-1]
        bullet, number = _BULLET.match(line), _NUMBER.match(line)
        marker = bullet[1] if bullet else number[2] if number else ""
        if marker and (self._list or not self._lines or bullet or (number and number[1] == "1")):
            done = self._flush(gap=spaced or not self._lines)
            line = self._count(line, marker, number)
            self._list = marker
        elif self._list and spaced and line[0] not in " \t":
            done = self._flush()
            self._list = ""
        self._lines.append(line)
        return done

    def _count(self, line: str, marker: str, number: re.Match[str] | None) -> str:
        """Number the items of a list on, as they are rendered one by one."""
        if not number:
            return line
        value = int(number[1])
        if self._list == marker and value <= self._number:
            value = self._number + 1
        self._number = value
        return line[: number.start(1)] + str(value) + line[number.end(1) :]

    def _blank(self) -> list[Block]:
        if self._list:
            if self._lines and self._lines[-1]:
                self._lines.append("")
            return []
        return self._flush()

    def _flush(self, *, gap: bool = True) -> list[Block]:
        """End the block; ``gap`` says whether the next one is set off from it."""
        text = "\n".join(self._lines).rstrip()
        block = Block(kind="text", text=text, gap=self._gap)
        if self._lines:
            self._gap = gap
        self._lines = []
        return [block] if text else []

    def _code(self, line: str) -> list[Block]:
        body = line.strip()
        if body.startswith(self._fence) and not body.strip(self._fence[0]) and len(line) - len(line.lstrip()) < 4:
            return self._close_code()
        self._lines.append(line.removeprefix(self._indent))
        return self._code_part() if len(self._lines) >= CODE_PART else []

    def _code_part(self) -> list[Block]:
        text = "\n".join(self._lines)
        block = Block(kind="code", text=text, language=self._language, gap=self._gap and self._fresh, fresh=self._fresh)
        self._lines, self._fresh, self._gap = [], False, True
        return [block]

    def _close_code(self) -> list[Block]:
        done = self._code_part() if self._lines or self._fresh else []
        self._fence = self._list = ""
        self._fresh = self._gap = True
        return done


class Lines:
    """The same for text that is shown as it was written: each line is a block."""

    def __init__(self) -> None:
        self._pieces: list[str] = []

    def feed(self, text: str) -> list[Block]:
        """Lines that this piece of text finished."""
        if "\n" not in text:
            self._pieces.append(text)
            return []
        *lines, rest = ("".join(self._pieces) + text).split("\n")
        self._pieces = [rest]
        return [Block(kind="text", text=line, gap=False) for line in lines]

    def finish(self) -> list[Block]:
        """The line that had no end."""
        rest, self._pieces = "".join(self._pieces), []
        return [Block(kind="text", text=rest, gap=False)] if rest else []

    def tail(self, limit: int) -> list[str]:
        """The unfinished line, at most its last ``limit`` characters."""
        return ["".join(self._pieces)[-limit:]] if any(self._pieces) else []
