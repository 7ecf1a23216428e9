"""Quotes, escapes and braces of the shell, undone as the shell does it."""

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase

from hermes_tool_guard.judgement import OPAQUE

__all__ = ["Glob", "ansi_c", "braces", "cut_pattern", "finished", "marked", "octal_text", "unquoted"]

SPECIAL = "{},*?[]~ \t\n"
_MARK = str.maketrans({c: chr(0xE000 + ord(c)) for c in SPECIAL})
_UNMARK = str.maketrans({chr(0xE000 + ord(c)): c for c in SPECIAL})
_MARKS = re.compile("[\ue000-\ue0ff]")
_GLOB = re.compile(r"[*?\[]|[?*+@!]\(")
_ESCAPED = re.compile(r"\\(.|\n)", re.DOTALL)
_ANSI = re.compile(
    r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|c(.)|(.))", re.DOTALL
)
_PLAIN = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v"}
_BRACES = re.compile(r"\{([^{}]*)\}")
_RANGE = re.compile(r"(-?\d+|\w)\.\.(-?\d+|\w)(?:\.\.(-?\d+))?")
MOST_BRACES = 64


class Glob(str):
    """A word that the shell would match against files."""

    __slots__ = ()


def marked(text: str) -> str:
    """Quoted text: its special characters mean themselves."""
    return text.translate(_MARK)


def unquoted(text: str) -> str:
    """A bare word: a backslash takes the meaning from the next character, and a broken line is one."""
    if "\\" not in text:
        return text
    return _ESCAPED.sub(lambda m: "" if m[1] == "\n" else m[1].translate(_MARK), text)


def finished(text: str) -> str:
    """A word after all expansions."""
    glob = _GLOB.search(text)
    if _MARKS.search(text):
        text = text.translate(_UNMARK)
    return Glob(text) if glob else text


def ansi_c(text: str) -> str:
    """The inside of ``$'…'``; it ends at a NUL, as in bash."""

    def one(match: re.Match[str]) -> str:
        for digits, base in ((match[1], 16), (match[2], 16), (match[3], 16), (match[4], 8)):
            if digits:
                number = int(digits, base)
                return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"
        if match[5]:
            return chr(ord(match[5]) & 0x1F)
        return _PLAIN.get(match[6], match[6] if match[6] in "\\'\"?" else match[0])

    return _ANSI.sub(one, text).partition("\0")[0]


def octal_text(text: str) -> str:
    """What ``printf`` and ``echo -e`` make of escapes."""
    return ansi_c(re.sub(r"\\0([0-7]{1,3})", r"\\\1", text)).partition("\\c")[0]


def braces(word: str) -> Sequence[str]:
    """``a{b,c}`` and ``{1..3}`` expanded. Too many give a word that cannot be known."""
    if "{" not in word:
        return (word,)
    done: list[str] = []
    todo = [word]
    while todo:
        one = todo.pop(0)
        for match in _BRACES.finditer(one):
            parts = match[1].split(",") if "," in match[1] else _range(match[1])
            if parts:
                todo += [one[: match.start()] + part + one[match.end() :] for part in parts]
                break
        else:
            done.append(one)
        if len(todo) + len(done) > MOST_BRACES:
            return (OPAQUE,)
    return done


def _range(text: str) -> list[str]:
    match = _RANGE.fullmatch(text)
    if not match:
        return []
    first, last, step = match[1], match[2], abs(int(match[3] or 1)) or 1
    if len(first) == 1 and len(last) == 1 and not (first + last).isdigit():
        low, high, show = ord(first), ord(last), chr
    else:
        try:
            low, high, show = int(first), int(last), str
        except ValueError:
            return []
    if abs(high - low) // step > MOST_BRACES:
        return [OPAQUE]
    return [show(n) for n in (range(low, high + 1, step) if low <= high else range(low, high - 1, -step))]


def cut_pattern(value: str, operator: str, pattern: str) -> str:
    """``${value%pattern}`` and its three brothers."""
    longest = len(operator) == 2
    ends = range(len(value) + 1)
    if operator[0] == "#":
        order = reversed(ends) if longest else ends
        return next((value[i:] for i in order if fnmatchcase(value[:i], pattern)), value)
    order = ends if longest else reversed(ends)
    return next((value[:i] for i in order if fnmatchcase(value[i:], pattern)), value)
