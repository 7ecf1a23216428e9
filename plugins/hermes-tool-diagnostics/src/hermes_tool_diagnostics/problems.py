"""Problems in a text, and which of them are new."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, Literal

from hermes_core.patterns import pattern
from hermes_core.values import frozen

SHOWN, CHARACTERS, NAMED = 12, 300, 80  # problems of one file, characters of one message and of who says it
_NUMBER = pattern(r"\d+")


@frozen(kw_only=True)
class Problem:
    """One problem; ``line`` and ``column`` count from 1. ``heard``: a server's words, who may repeat any file's."""

    line: int
    column: int = 1
    severity: Literal["error", "warning"] = "error"
    message: str
    code: str = ""
    source: str = ""
    heard: bool = False


def new_problems(before: str, after: str, known: Sequence[Problem], found: Sequence[Problem]) -> Sequence[Problem]:
    """Those found in ``after`` that were not there in ``before``, errors first.

    A problem is an old one where the same was said of the line that this line was, or of one of those it replaced.
    Numbers in what is said are not compared: they count lines.
    """
    if not found:
        return []
    if not known:
        return sorted(found, key=_order)
    old_lines, new_lines = before.split("\n"), after.split("\n")
    came: dict[int, range] = {}
    for tag, a1, a2, b1, b2 in SequenceMatcher(None, old_lines, new_lines, autojunk=False).get_opcodes():
        for line in range(b1, b2):
            came[line + 1] = range(a1 + line - b1 + 1, a1 + line - b1 + 2) if tag == "equal" else range(a1 + 1, a2 + 1)
    left = Counter((one.line, *_said(one)) for one in known)
    # A line that was moved is not where it was, but it is the same line.
    texts = Counter((_text(old_lines, one.line), *_said(one)) for one in known)
    unplaced, fresh = list[Problem](), list[Problem]()
    for one in found:
        key = next((k for line in came.get(one.line, ()) if left[k := (line, *_said(one))]), None)
        if key:
            left[key] -= 1
            texts[_text(old_lines, key[0]), *_said(one)] -= 1
        else:
            unplaced.append(one)
    for one in unplaced:
        moved = (_text(new_lines, one.line), *_said(one))
        if moved[0] and texts[moved] > 0:
            texts[moved] -= 1
        else:
            fresh.append(one)
    return sorted(fresh, key=_order)


def _said(one: Problem) -> tuple[str, str, str]:
    return one.source, one.code, _NUMBER.sub("#", one.message)


def _text(lines: Sequence[str], number: int) -> str:
    return lines[number - 1].strip() if 0 < number <= len(lines) else ""


def _order(one: Problem) -> tuple[bool, int, int]:
    return one.severity != "error", one.line, one.column


def of_protocol(items: Any, source: str) -> Sequence[Problem]:
    """The errors and warnings of a list as the Language Server Protocol has it; hints and notes are left out."""
    found = []
    for item in items if isinstance(items, list) else ():
        if not isinstance(item, Mapping) or item.get("severity", 1) not in (1, 2):
            continue
        place = item.get("range")
        start = place.get("start") if isinstance(place, Mapping) else None
        line, column = (start.get("line"), start.get("character")) if isinstance(start, Mapping) else (0, 0)
        code = item.get("code")
        found.append(
            Problem(
                line=(line if isinstance(line, int) else 0) + 1,
                column=(column if isinstance(column, int) else 0) + 1,
                severity="error" if item.get("severity", 1) == 1 else "warning",
                message=str(item.get("message", "")),
                code=str(code) if isinstance(code, str | int) else "",
                source=str(item.get("source") or source),
                heard=True,
            )
        )
    return found


def told(path: str, problems: Sequence[Problem], *, late: bool = False) -> str:
    """What a model reads of a file's new problems."""
    path = " ".join(path.splitlines())
    rows = [f"{'New problems, found late,' if late else 'New problems'} in {path}:"]
    for one in problems[:SHOWN]:
        words, by = _line(one.message, CHARACTERS), _line(f"{one.source} {one.code}", NAMED)
        rows.append(f"  {one.line}:{one.column} {one.severity}: {words}{f' ({by})' if by else ''}")
    if len(problems) > SHOWN:
        rows.append(f"  … and {len(problems) - SHOWN} more")
    return "\n".join(rows)


def _line(text: str, most: int) -> str:
    """What a server said, on one line and not longer than it may be: it may say anything."""
    line = " ".join(re.sub(r"[\x00-\x1f\x7f-\x9f]", " ", text).split())
    return line if len(line) <= most else f"{line[:most]}…"
