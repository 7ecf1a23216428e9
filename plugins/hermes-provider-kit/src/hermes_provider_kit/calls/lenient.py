"""JSON as models write it: read where it can be read one way only.

Beyond JSON it takes: single and typographic quotes, line ends within quotes, words that are keys without quotes, the
literals of Python and JavaScript, comments, a comma too many or too few, and closing brackets that were forgotten.
"""

import re
from typing import Any

__all__ = ["Unsure", "value_of"]

DEEP = 100  # levels; deeper ones are hostile or broken
_BLANK = re.compile(r"(?:\s+|//[^\n]*(?:\n|$)|/\*.*?\*/)*", re.DOTALL)
_KEY = re.compile(r"[A-Za-z_$][\w$-]*")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_LITERALS = {
    "true": True,
    "True": True,
    "false": False,
    "False": False,
    "null": None,
    "None": None,
    "undefined": None,
}
_QUOTES = {'"': '"', "'": "'", "\u201c": "\u201d", "`": "`"}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "/": "/", "\\": "\\", "\n": ""}
# Each sign can be read by one part alone, here and everywhere: what a model repeats without end takes no time.
_AFTER = re.compile(r"[\s;,}\])`]*(?:</?[\w|=]+>[\s;`]*)*")
_FENCE = re.compile(r"```\w*")


class Unsure(ValueError):
    """A text that cannot be read, or in more than one way."""


def value_of(text: str, *, cut: bool = False) -> Any:
    """Read a value. ``cut``: what is open at the end may have gone on, so nothing is closed. Raises Unsure."""
    text = text.strip().removeprefix("\ufeff")
    if len(text) > 5 and text.endswith("```") and (fence := _FENCE.match(text)):
        text = text[fence.end() : -3].strip()
    return _Reader(text, cut=cut).whole()


class _Reader:
    """One look at a text, from its beginning to its end."""

    def __init__(self, text: str, *, cut: bool) -> None:
        self._text = text
        self._at = 0
        self._cut = cut

    def whole(self) -> Any:
        self._blank()
        value = self._value(0)
        while not _AFTER.fullmatch(self._text, self._at):
            self._blank()
            if not isinstance(value, dict) or self._value(0) != value:  # the same once more is the same
                raise Unsure("something follows the value")
        return value

    def _value(self, level: int) -> Any:
        if level > DEEP:
            raise Unsure("nested too deeply")
        sign = self._sign()
        if sign == "{":
            return self._object(level)
        if sign == "[":
            return self._array(level)
        if sign in _QUOTES:
            return self._quoted(sign)
        return self._bare()

    def _object(self, level: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        self._at += 1
        comma = True
        while not self._closed("}", comma=comma and bool(found)):
            sign = self._sign()
            name = self._quoted(sign) if sign in _QUOTES else self._word()
            self._blank()
            if self._sign() not in (":", "="):
                raise Unsure("a name without a value")
            self._at += 1
            self._blank()
            value = self._value(level + 1)
            if name in found and found[name] != value:
                raise Unsure(f"{name} has two values")
            found[name] = value
            comma = self._comma()
        return found

    def _array(self, level: int) -> list[Any]:
        found: list[Any] = []
        self._at += 1
        comma = True
        while not self._closed("]", comma=comma and bool(found)):
            if found and not comma:
                raise Unsure("a comma is missing in a list")
            found.append(self._value(level + 1))
            comma = self._comma()
        return found

    def _closed(self, sign: str, *, comma: bool) -> bool:
        """Tell whether a bracket ends here; at the end of the text it does where nothing can be missing."""
        self._blank()
        if self._sign() == sign:
            self._at += 1
            return True
        if not self._sign():
            last = self._text.rstrip()[-1:]
            if self._cut or comma or last in "{[." or last.isdigit():  # a number may have gone on
                raise Unsure("it ends in the middle")
            return True
        return False

    def _comma(self) -> bool:
        self._blank()
        if self._sign() == ",":
            self._at += 1
            return True
        return False

    def _quoted(self, sign: str) -> str:
        ends, pieces = _QUOTES[sign], []
        self._at += 1
        while (here := self._sign()) != ends:
            if not here:
                raise Unsure("a text has no end")
            self._at += 1
            pieces.append(self._escaped(ends) if here == "\\" else here)
        self._at += 1
        follows = _BLANK.match(self._text, self._at)
        after = self._text[follows.end() :][:1] if follows else ""
        if after and after not in ":,}]=;<`)" + "".join(_QUOTES):
            raise Unsure("a quote within a text is not marked")
        text = "".join(pieces)
        if sign == "`" and "${" in text:
            raise Unsure("a text is put together from others")
        return text

    def _escaped(self, ends: str) -> str:
        sign = self._sign()
        self._at += 1
        if sign == "u":
            code = self._text[self._at : self._at + 4]
            if not re.fullmatch(r"[0-9a-fA-F]{4}", code):
                return "\\u"
            self._at += 4
            made = chr(int(code, 16))
            if "\ud800" <= made <= "\udbff" and (low := re.match(r"\\u([dD][c-fC-F]\w\w)", self._text[self._at :])):
                self._at += 6
                return (made + chr(int(low[1], 16))).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            return made
        if sign == "'" != ends:  # the backslash may belong to the text, as in a shell's 'it'\\''s'
            raise Unsure("a quote that needed no mark")
        if sign in (ends, '"'):
            return sign
        return _ESCAPES.get(sign, f"\\{sign}")

    def _bare(self) -> Any:
        if found := _NUMBER.match(self._text, self._at):
            self._at = found.end()
            if re.match(r"[\w.]", self._text[self._at :]):
                raise Unsure("a word without quotes")
            return _number(found[0])
        word = self._word()
        if word not in _LITERALS:
            raise Unsure("a word without quotes")
        return _LITERALS[word]

    def _word(self) -> str:
        if not (found := _KEY.match(self._text, self._at)):
            raise Unsure("neither a word nor a value")
        self._at = found.end()
        return found[0]

    def _sign(self) -> str:
        return self._text[self._at : self._at + 1]

    def _blank(self) -> None:
        if found := _BLANK.match(self._text, self._at):
            self._at = found.end()


def _number(text: str) -> int | float:
    if text[0] == "+":
        raise Unsure("a number that may be a word")
    if re.fullmatch(r"-?\d+", text):
        digits = text.lstrip("-")
        if len(digits) > 400 or (len(digits) > 1 and digits[0] == "0"):
            raise Unsure("a number that may be a word")
        return int(text)
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise Unsure("a number that is too large")
    return value
