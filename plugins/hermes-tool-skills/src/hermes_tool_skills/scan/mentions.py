"""Words that a skill only speaks of: what it forbids, or quotes as something to watch for, it does not ask for."""

import re

_BEFORE = 160  # characters that may tell how the words after them are meant
_FORBIDS = re.compile(
    r"\b(?:never|do not|don'?t|must not|mustn'?t|should not|shouldn'?t|cannot|avoid|refuse to|instead of|rather than)\b"
    r"(?![^.!?;]*\b(?:hesitate|forget|fail|mind|stop|skip|worry|be afraid|unless|until|but|except|again|only)\b)"
    r"[^.!?;。]{0,90}$",
    re.IGNORECASE,
)
_WATCHES = re.compile(
    r"\b(?:such as|e\.g\.|for example|look(?:s|ing)? for|search(?:es)? for|watch(?:es)? for|detect(?:s|ing)?|"
    r"flag(?:s|ged)?|phrases?|patterns?|attempts?|attacks?|injections?|red flags?|reject(?:s|ed)?|suspicious|"
    r"never|do not|don'?t|avoid|dangerous|unsafe|refus\w+)\b[^.!?。]{0,140}$",
    re.IGNORECASE,
)
_QUOTES = "\"'`“‘«「"


def only_mentioned(text: str, start: int, *, told: bool) -> bool:
    """Whether the words at ``start`` are forbidden there, or quoted as something to watch for.

    ``told`` says that they are an order in words, which a "never" before it turns around; a command in a program is
    meant whatever stands before it, unless it is quoted in a sentence.
    """
    before = text[max(0, start - _BEFORE) : start]
    line = before if told else before.rpartition("\n")[2]
    if told and _FORBIDS.search(line):
        return True
    return _quoted(line) and bool(_WATCHES.search(line))


def _quoted(line: str) -> bool:
    """Whether a quotation is open at the end of a line."""
    last = max((line.rfind(mark) for mark in _QUOTES), default=-1)
    if last < 0:
        return False
    mark = line[last]
    if mark == "'" and last and line[last - 1].isalnum():
        return False
    return mark in "“‘«「" or line.count(mark) % 2 == 1
