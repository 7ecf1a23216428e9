"""Differences between texts: found in an output, or made of what a call wants to write."""

from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from typing import Literal, TypeAlias

from hermes_core.patterns import pattern
from hermes_core.types import JSON
from hermes_core.values import frozen

__all__ = ["Row", "of_arguments", "parse"]

Mark: TypeAlias = Literal[" ", "+", "-", "@", "#"]

MOST_ROWS = 600
_MOST_LINES = 400  # on each side that are compared line by line; of more, all is taken out and put in
_CONTEXT = 3
_HUNK = pattern(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_HEADS = ("--- ", "+++ ", "diff --git ", "index ", "new file mode", "deleted file mode", "rename ", "similarity ")

_PAIRS = (("old", "new"), ("old_string", "new_string"), ("old_str", "new_str"), ("old_text", "new_text"))
_WHOLE = ("content", "file_text", "new_content")
_PATCH = ("patch", "diff")


@frozen
class Row:
    """A line of a difference: what became of it, and its number before or after. ``#`` is a head, ``@`` a gap."""

    mark: Mark
    text: str
    number: int = 0


def parse(text: str) -> tuple[list[str], list[Row], list[str]] | None:
    """What stands before a unified diff in a text, its rows, and what stands behind; None when there is none."""
    if "@@ -" not in text:
        return None
    lines = text.split("\n")
    first = next((number for number, line in enumerate(lines) if _HUNK.match(line)), None)
    if first is None:
        return None
    begin = first
    while begin and lines[begin - 1].startswith(_HEADS):
        begin -= 1
    rows, end = _rows(lines, begin)
    return lines[:begin], rows, lines[end:]


def _rows(lines: list[str], begin: int) -> tuple[list[Row], int]:
    """The rows from a line on, and the number of the first line that is none of them."""
    rows: list[Row] = []
    old = new = old_end = new_end = 0  # the next line on each side, and the first that the hunk does not tell of
    for at in range(begin, len(lines)):
        line = lines[at]
        mark = line[:1] or " "
        if mark == "-" and old < old_end:
            rows.append(Row("-", line[1:], old))
            old += 1
        elif mark == "+" and new < new_end:
            rows.append(Row("+", line[1:], new))
            new += 1
        elif mark == " " and old < old_end and new < new_end:
            rows.append(Row(" ", line[1:], new))
            old, new = old + 1, new + 1
        elif hunk := _HUNK.match(line):
            old, new = int(hunk[1]), int(hunk[3])
            old_end, new_end = old + int(hunk[2] or 1), new + int(hunk[4] or 1)
            rows.append(Row("@", line))
        elif line.startswith(_HEADS):
            rows.append(Row("#", line))
            old = new = old_end = new_end = 0
        elif mark != "\\":
            return rows, at
    return rows, len(lines)


def of_arguments(arguments: Mapping[str, JSON]) -> list[Row]:
    """What a call wants to change, as far as its arguments tell; the numbers count from the place of the change."""
    for before, after in _PAIRS:
        old, new = arguments.get(before), arguments.get(after)
        if isinstance(old, str) and isinstance(new, str):
            return list(_compared(old, new))[:MOST_ROWS]
    for key in _PATCH:
        patch = arguments.get(key)
        if isinstance(patch, str) and (found := parse(patch[:200_000])):
            return found[1][:MOST_ROWS]
    for key in _WHOLE:
        whole = arguments.get(key)
        if isinstance(whole, str) and whole and ("path" in arguments or "file_path" in arguments):
            lines = whole[:200_000].splitlines()
            return [Row("+", line, number) for number, line in enumerate(lines[:MOST_ROWS], 1)]
    return []


def _compared(old: str, new: str) -> Iterator[Row]:
    before, after = old[:200_000].splitlines(), new[:200_000].splitlines()
    if max(len(before), len(after)) > _MOST_LINES:
        yield from (Row("-", line, number) for number, line in enumerate(before[: MOST_ROWS // 2], 1))
        yield from (Row("+", line, number) for number, line in enumerate(after[: MOST_ROWS // 2], 1))
        return
    groups = SequenceMatcher(None, before, after, autojunk=False).get_grouped_opcodes(_CONTEXT)
    for index, group in enumerate(groups):
        if index:
            yield Row("@", "⋯")
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                yield from (Row(" ", after[j], j + 1) for j in range(j1, j2))
                continue
            yield from (Row("-", before[i], i + 1) for i in range(i1, i2))
            yield from (Row("+", after[j], j + 1) for j in range(j1, j2))
