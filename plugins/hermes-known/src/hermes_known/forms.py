"""The forms in which a value may come back: encoded, turned round, spaced out, dumped.

A text is compared without everything but ASCII letters and digits, in lower case: that undoes spaces, line ends, quotes
and case at once. What is encrypted, hashed, compressed or cut into short pieces is not found.
"""

import base64
import codecs
import html
import json
import quopri
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from urllib.parse import quote, quote_plus

from hermes_known.places import Span, in_base64, places

__all__ = ["Forms"]

_SHORT = 8  # letters and digits; a shorter value is looked for as it is written, and in long encodings
_LEAST = 6  # characters; a shorter value would be found everywhere
_WORD = re.compile(r"[0-9A-Za-z]+")
_NUMBERED = re.compile(r"(?m)^[ \t]*\d+[:.\t ]")
_OCTAL = re.compile(r"(?m)^[ \t]*(?:[0-7]{7}[ \t]+)?([0-7]{6}(?:[ \t]+[0-7]{6})*)[ \t]*$")
_COUNTED = re.compile(r"(?m)^[ \t]*\d+[:.\t ].*\n[ \t]*\d+[:.\t ]")  # two such lines
_DUMPED = re.compile(
    r"(?m)^[ \t]*[0-9a-fA-F]{4,16}:?[ \t]+[0-9a-fA-F]{2}[ \t]?[0-9a-fA-F]{2}|^[ \t]*[0-7]{6,7}[ \t]+[0-7]{6}"
)
_DUMP = re.compile(r"(?m)^[ \t]*(?:[0-9a-fA-F]{4,16}:?[ \t]+)?((?:[0-9a-fA-F]{2}[ \t]?)+)(?:[ \t]{1,}\S.*)?$")


class Forms:
    """Finds values in texts, in all their forms."""

    def __init__(self, values: Iterable[str]) -> None:
        known = sorted({value for value in values if len(value) >= _LEAST}, key=len, reverse=True)
        self._plain = sorted({form for value in known for form in _written(value)}, key=len, reverse=True)
        self._squeezed = tuple({needle for value in known for needle in _needles(value)})
        self._begins = frozenset(needle[:_SHORT] for needle in self._squeezed)
        self._bare = tuple(form for form in self._plain if len("".join(_WORD.findall(form))) < _SHORT)
        self._bytes = tuple(value.encode("utf-8", "surrogatepass") for value in known)

    def __bool__(self) -> bool:
        return bool(self._plain)

    def may_hold(self, text: str) -> bool:
        """False where ``spans`` would find nothing; costs little."""
        if self._squeezed_in(text) or any(form in text for form in self._bare):
            return True
        if _DUMPED.search(text) and next(self._dumps(text), None):
            return True
        return _COUNTED.search(text) is not None and self._squeezed_in(_NUMBERED.sub("", text))

    def spans(self, text: str) -> list[Span]:
        """Where they are."""
        found = [span for form in self._plain for span in places(form, text)]
        if self._squeezed_in(text):
            found += self._squeezed_spans(text)
        unnumbered = _NUMBERED.sub(lambda m: " " * len(m[0]), text)
        if unnumbered != text and self._squeezed_in(unnumbered):
            found += self._squeezed_spans(unnumbered)
        return [*found, *self._dumps(text)]

    def _squeezed_in(self, text: str) -> bool:
        if not self._squeezed:
            return False
        squeezed = "".join(_WORD.findall(text)).lower()
        # However many values there are, each place is looked at once.
        if self._begins.isdisjoint([squeezed[at : at + _SHORT] for at in range(len(squeezed) - _SHORT + 1)]):
            return False
        return any(needle in squeezed for needle in self._squeezed)

    def _squeezed_spans(self, text: str) -> Iterator[Span]:
        squeezed, at = _squeeze(text)
        for needle in self._squeezed:
            for begin, end, _ in places(needle, squeezed):
                yield at[begin], at[end - 1] + 1, True

    def _dumps(self, text: str) -> Iterator[Span]:
        """Lines of a dump, with or without addresses and text beside, that hold a value together."""
        for shape, read in ((_DUMP, _hexadecimal), (_OCTAL, _octal)):
            lines: list[tuple[int, int]] = []
            held, end = b"", -1
            for line in shape.finditer(text):
                if line.start() != end + 1:
                    yield from self._dumped(held, lines)
                    lines, held = [], b""
                held += read(line[1])
                end = line.end()
                lines.append((line.start(), end))
            yield from self._dumped(held, lines)

    def _dumped(self, held: bytes, lines: list[tuple[int, int]]) -> Iterator[Span]:
        turned = bytes(held[at ^ 1] for at in range(len(held) // 2 * 2))
        if any(value in way for value in self._bytes for way in (held, turned)):
            yield from ((begin, end, True) for begin, end in lines)


def _hexadecimal(text: str) -> bytes:
    digits = re.sub(r"\s", "", text)
    return bytes.fromhex(digits[: len(digits) // 2 * 2])


def _octal(text: str) -> bytes:
    """Words of two bytes, the second first."""
    return b"".join((int(word, 8) & 0xFFFF).to_bytes(2, "little") for word in text.split())


def _squeeze(text: str) -> tuple[str, list[int]]:
    parts, at = [], list[int]()
    for word in _WORD.finditer(text):
        parts.append(word[0])
        at += range(word.start(), word.end())
    return "".join(parts).lower(), at


def _written(value: str) -> Iterator[str]:
    """The spellings that are looked for to the letter: those that signs belong to."""
    yield from (value, value[::-1], quote(value, safe=""), quote_plus(value), quote(value), html.escape(value))
    yield from (json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1], value.replace("'", "'\\''"))
    yield from (value.swapcase(), value.upper(), value.lower(), codecs.encode(value, "rot13"))


@lru_cache(maxsize=256)
def _needles(value: str) -> tuple[str, ...]:
    found = {"".join(_WORD.findall(form)).lower() for form in (*_written(value), *_encoded(value))}
    return tuple(needle for needle in found | {one[::-1] for one in found} if len(needle) >= _SHORT)


def _encoded(value: str) -> Iterator[str]:
    data = value.encode("utf-8", "surrogatepass")
    for one in (data, data[::-1], value.encode("utf-16-le", "surrogatepass")):
        yield from _numbers(one)
        yield from _shifted(one)
    for again in (base64.b64encode(data), data.hex().encode(), quote(value).encode()):
        yield from _shifted(again)
        yield again.hex()
    yield from (base64.b85encode(data).decode(), base64.a85encode(data).decode(), quopri.encodestring(data).decode())
    yield codecs.encode(base64.b64encode(data).decode(), "rot13")


def _numbers(data: bytes) -> Iterator[str]:
    """Bytes as the tools write them that show numbers."""
    for shape in ("{:02x}", "x{:02x}", "0x{:02x}", "u00{:02x}", "{:03o}", "{:o}", "{:d}", "{:03d}", "{:08b}", "x{:x}"):
        yield "".join(map(shape.format, data))
    for begin in (0, 1):  # two by two, the second first
        inner = data[begin : begin + (len(data) - begin) // 2 * 2]
        yield "".join(f"{inner[at ^ 1]:02x}" for at in range(len(inner)))


def _shifted(data: bytes) -> Iterator[str]:
    """What of base64 and base32 is the same, whatever stands before and behind."""
    yield from in_base64(data)
    for shift in range(5):
        coded = base64.b32encode(b"\0" * shift + data).decode().rstrip("=")
        yield coded[(0, 2, 4, 5, 7)[shift] : len(coded) - (1 if (shift + len(data)) % 5 else 0)]
