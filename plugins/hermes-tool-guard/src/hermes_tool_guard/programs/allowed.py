"""The allow lists of programs and options: ``*.txt`` beside this, whose first lines say how they are written."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from hermes_tool_guard.judgement import UNKNOWN, Class
from hermes_tool_guard.programs.carried import carried
from hermes_tool_guard.run import Run
from hermes_tool_guard.scene import shown

__all__ = ["Given", "Row", "listed", "row_of", "taken_apart"]

_ENTRY = re.compile(r"(-#|[+@]|[-+][^=?]*?)(:|\?|=.*)?")
_ANYWHERE = {"--help": "", "--version": ""}


class Row(NamedTuple):
    """What a program may be given. ``options`` are names with what comes behind them; ``marks`` as in the file."""

    operands: str
    marks: str
    options: dict[str, str]


class Given(NamedTuple):
    """The arguments of a program, taken apart by its row."""

    options: list[tuple[str, str]]
    operands: list[str]
    behind: list[str]  # what stands behind --
    has_pattern: bool  # an option gave the pattern, or there is none
    rewrites: bool  # an option says that the operands are written


@cache
def _lines(kind: str) -> dict[str, str]:
    found = dict[str, str]()
    for line in Path(__file__).with_name(f"{kind}.txt").read_text("utf-8").splitlines():
        if line[:1] != "#":
            names, _, row = line.partition(": ")
            found.update(dict.fromkeys(names.split(), row))
    return found


def listed(kind: str) -> Iterator[str]:
    """The names of the programs in ``reading.txt`` or ``tools.txt``."""
    return iter(_lines(kind))


@cache
def _row(line: str) -> Row:
    head, _, rest = line.partition(" ")
    operands = head.rstrip("!*1")
    options = dict(_ANYWHERE)
    marks = head[len(operands) :]
    for word in rest.split():
        if "1" not in marks and re.fullmatch(r"-[^-#].+", word) and not re.search(r"[=?:]", word[2:]):
            options.update({f"-{letter}": "" for letter in word[1:]})
        elif entry := _ENTRY.fullmatch(word):
            options[entry[1]] = entry[2] or ""
    return Row(operands, marks, options)


def row_of(name: str, kind: str = "reading") -> Row:
    """The row of a listed program. Raises KeyError for others."""
    return _row(_lines(kind)[name])


def taken_apart(run: Run, row: Row) -> Given:
    """Take the arguments apart; an option that is not in the row is asked about, and what files options name judged."""
    found = Given([], [], [], False, False)
    words = iter(run.args)
    for word in words:
        if word == "--":
            found.behind.extend(words)
        elif word[:1] in ("+", "@") and len(word) > 1 and "*" not in row.marks:
            if _takes(row.options.get(word, "")):
                found.options.append((word, next(words, "")))
            elif word not in row.options and word[0] not in row.options:
                _strange(run, word)
        elif word[:1] != "-" or len(word) == 1:
            found.operands.append(word)
        elif "-#" in row.options and word[1:].isdigit():
            found.options.append(("-#", word[1:]))
        else:
            _option(run, row, word, words, found)
    has_pattern = rewrites = False
    for name, value in found.options:
        if kind := row.options[name]:
            _value(run, kind, value)
            has_pattern = has_pattern or kind in ("=p", "=f", ":")
            rewrites = rewrites or kind == "=w"
    return found if not (has_pattern or rewrites) else found._replace(has_pattern=has_pattern, rewrites=rewrites)


def _option(run: Run, row: Row, word: str, words: Iterator[str], found: Given) -> None:
    if len(word) == 2 and row.options.get(word) == "":
        found.options.append((word, ""))
        return
    name, eq, value = word.partition("=")
    if word[1] == "-" or "1" in row.marks or (len(name) > 2 and name in row.options):
        kind = row.options.get(name, "*" if "*" in row.marks else None)
        if kind is None or (eq and kind in ("", ":", "=w")):
            _strange(run, word)
        elif kind != "*":
            found.options.append((name, value if eq or not _takes(kind) else _next(words, kind)))
        return
    for i, letter in enumerate(word[1:], 1):
        kind = row.options.get(f"-{letter}", "*" if "*" in row.marks else None)
        if kind is None:
            _strange(run, word)
            return
        if kind == "*":
            return
        rest = word[i + 1 :]
        found.options.append((f"-{letter}", (rest or _next(words, kind)) if _takes(kind) else rest))
        if _takes(kind) or kind == "?":
            return


def _takes(kind: str) -> bool:
    return kind[:1] == "=" and kind != "=w"


def _next(words: Iterator[str], kind: str) -> str:
    first = next(words, "")
    if kind in ("==", "=2"):
        second = next(words, "")
        return second if kind == "=2" else first
    return first


def _value(run: Run, kind: str, value: str) -> None:
    if kind in ("=<", "=f", "=2"):
        if value != "-":
            run.read(value)
    elif kind == "=>":
        if value != "-":
            run.write(value)
    elif len(kind) > 2 and value != kind[1:]:
        _strange(run, value)


def _strange(run: Run, word: str) -> None:
    """An option that is not on the list. What the arguments carry may still be what is never done."""
    if any(c in word for c in UNKNOWN):
        run.ask(Class.UNCLEAR, f"gives {run.name} an option that is only known when it runs")
    carried(run)
    run.ask(Class.CODE, f"gives {run.name} {shown(word.partition('=')[0])}, and the guard does not know what that does")
