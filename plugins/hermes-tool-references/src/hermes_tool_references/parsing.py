"""Finding references in what a person wrote. What is none stays to the letter: nothing here changes the text."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Literal, TypeAlias, get_args

from hermes_core.values import frozen

Kind: TypeAlias = Literal["file", "folder", "diff", "staged", "git", "url", "session", "path"]
KINDS: tuple[str, ...] = get_args(Kind)[:-1]  # as they are written; a path alone has no kind before it
MOST = 30  # references of one message
COMMITS = 10
LONGEST = 8_192  # characters of one
_LOOKED_AT = 1_000  # words with an @ before them; a text with more of them is no message
_TRIMMED = 64  # characters at the end of a word

# A mail address, a scoped package and a decorator in the middle of code have something else before the @.
_AT = re.compile(r"(?<![^\s(\[{<\"'“‘«*,;—–])@")
_KIND = re.compile(r"(file|folder|url|session|git):|(diff|staged)(?![\w:/.@-]*\w)")
_QUOTED = re.compile(r'"([^"\n]{1,4096})"(?::([0-9]{1,9})(?:-([0-9]{1,9}))?(?![\w]))?')
_WORD = re.compile(r"\S+")
_LINES = re.compile(r"(.+?):([0-9]{1,9})(?:-([0-9]{1,9}))?", re.DOTALL)
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]+`", re.DOTALL)
_END = ",.;!?:"
_CLOSERS = {")": "(", "]": "[", "}": "{", ">": "<", "”": "“", "’": "‘", "»": "«"}


@frozen(kw_only=True)
class Reference:
    """One reference: ``raw`` is how it is written. ``first`` and ``last`` are lines, 0 where none are named.

    A ``path`` is one only if there is such a file.
    """

    kind: Kind
    value: str
    raw: str
    first: int = 0
    last: int = 0


def references(text: str) -> list[Reference]:
    """The references in a text, each once, in the order they stand there."""
    found = dict.fromkeys(_all(text))
    return list(found)


def _all(text: str) -> Iterator[Reference]:
    code = (match.span() for match in _CODE.finditer(text)) if "`" in text else iter(())
    start, end = next(code, (0, 0))
    for match in islice(_AT.finditer(text), _LOOKED_AT):
        at = match.start()
        while end and end <= at:
            start, end = next(code, (0, 0))
        if not start <= at < end and (found := _one(text, at)):
            yield found


def _one(text: str, at: int) -> Reference | None:
    """The reference that begins here, if it is one."""
    match = _KIND.match(text, at + 1)
    if match is None:
        return _path(text, at)
    if word := match[2]:
        return Reference(kind="diff" if word == "diff" else "staged", value="", raw=text[at : match.end()])
    kind, start = match[1], match.end()
    if quoted := _QUOTED.match(text, start):
        first, last = _lines(quoted[2], quoted[3]) if kind == "file" else (0, 0)
        end = quoted.end() if kind == "file" or not quoted[2] else quoted.start(2) - 1
        return _made(kind, quoted[1], text[at:end], first, last)
    value = _value(text, start)
    return _made(kind, value, text[at : start + len(value)]) if value else None


def _made(kind: str, value: str, raw: str, first: int = 0, last: int = 0) -> Reference | None:
    if not value.strip() or (kind == "git" and not (value.isascii() and value.isdigit() and len(value) < 10)):
        return None
    if kind == "file" and not first and not raw.endswith('"') and (lines := _LINES.fullmatch(value)):
        value, (first, last) = lines[1], _lines(lines[2], lines[3])
    return Reference(kind=kind, value=value, raw=raw, first=first, last=last)  # type: ignore[arg-type]


def _path(text: str, at: int) -> Reference | None:
    value = _value(text, at + 1)
    if not value or value[0] in '@"':
        return None
    raw, first, last = f"@{value}", 0, 0
    if lines := _LINES.fullmatch(value):
        value, (first, last) = lines[1], _lines(lines[2], lines[3])
    return Reference(kind="path", value=value, raw=raw, first=first, last=last)


def _value(text: str, start: int) -> str:
    """The word that begins here, without what ends a sentence or a bracket around it."""
    word = _WORD.match(text, start, start + LONGEST)
    value = word[0] if word else ""
    for _ in range(_TRIMMED):
        last = value[-1:]
        if last == "." and re.search(r"(?:^|/)\.{1,2}$", value):  # a folder, not the end of a sentence
            break
        if not last or (last not in _END and not _closes_what_is_outside(value)):
            break
        value = value[:-1]
    return value


def _closes_what_is_outside(value: str) -> bool:
    """Whether the last character is a bracket or quote that was opened before the word."""
    last = value[-1]
    if last in "\"'*":
        return True
    return last in _CLOSERS and value.count(last) > value.count(_CLOSERS[last])


def _lines(first: str | None, last: str | None) -> tuple[int, int]:
    if first is None:
        return 0, 0
    one = max(1, int(first))
    other = max(1, int(last)) if last else one
    return min(one, other), max(one, other)
