"""A text as a model, a shell or an interpreter may read it: without disguises, and with what is encoded in it."""

import base64
import binascii
import codecs
import html
import re
import unicodedata
from collections.abc import Iterator
from itertools import islice
from urllib.parse import unquote

INVISIBLE = "\u200b\u200c\u200d\u2060\u2061\u2062\u2063\u2064\u00ad\u180e\ufeff\u034f\u115f\u1160\u3164\uffa0"
_STRIP = {ord(c): None for c in INVISIBLE}
# Letters of other alphabets that look like Latin ones.
_LOOKS = "аеорсухіѕјԁһԛԝɡοερτυνκӏвмнтАВЕКМНОРСТХΑΒΕΖΗΙΚΜΝΟΡΤΥΧ"
_LATIN = "aeopcyxisjdhqwgoeptuvklbmhtABEKMHOPCTXABEZHIKMNOPTYX"
_ALIKE = str.maketrans(_LOOKS, _LATIN)
_LONG = re.compile(r"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/_-]{16,8000}={0,2}(?![A-Za-z0-9+/=])")
_HEX = re.compile(r"(?:\\x[0-9a-fA-F]{2}){4,}|(?<![0-9a-fA-F])(?:[0-9a-fA-F]{2}){16,2000}(?![0-9a-fA-F])")
_TAGS = re.compile("[\U000e0020-\U000e007e]+")
_AGAIN = re.compile(r"(.{1,12}?)\1{40,}")  # no attack needs it, and it makes rules look again from every place of it
_MOST_PIECES = 60


def versions(text: str) -> Iterator[tuple[str, str]]:
    """How a text was looked at, and the text: as it is, undisguised, decoded. Each once."""
    seen: set[str] = set()
    for how, version in _versions(_AGAIN.sub(lambda run: run[1] * 40, text)):
        if version and version not in seen:
            seen.add(version)
            yield how, version


def flowing(text: str) -> str:
    """Lines joined as a reader joins them, without the signs of quotes, lists and comments at their ends."""
    return re.sub(r"(?:(?<![ \t\r\f\v>#])[ \t\r\f\v>#]+|)\n[ \t\r\f\v>#/*-]*|[ \t\u00a0]+", " ", text)


def plain(text: str) -> str:
    """One form for each character, none that is invisible, and each command on one line."""
    return unicodedata.normalize("NFKC", text).translate(_STRIP).replace("\\\n", " ")


def _versions(text: str) -> Iterator[tuple[str, str]]:
    straight = plain(text)
    yield "as it is", straight
    loose = plain(html.unescape(text)).translate(_ALIKE)
    yield "behind letters that look alike, or entities", loose
    yield "behind marks inside of words", re.sub(r"(?<=\w)[*_~`|]{1,3}(?=\w)|(?<=[a-z])(?:''|\"\"|\\(?=[a-z]))(?=[a-z])", "", loose)  # fmt: skip # noqa: E501
    if "%" in text:
        yield "behind percent signs", plain(unquote(text, errors="replace"))
    if tags := "".join(chr(ord(c) - 0xE0000) for run in _TAGS.findall(text) for c in run):
        yield "in characters that nobody can see", plain(tags)
    if re.search(r"rot_?13|n-za-m", text, re.IGNORECASE):
        yield "turned by 13 letters", codecs.encode(straight, "rot13")
    yield "in encoded text", "\n".join(_decoded(straight))


def _decoded(text: str, depth: int = 2) -> Iterator[str]:
    for found in islice(_LONG.finditer(text), _MOST_PIECES):
        piece = found[0].replace("-", "+").replace("_", "/")
        with_padding = piece.rstrip("=") + "=" * (-len(piece.rstrip("=")) % 4)
        for inner in (_base64(with_padding), _base64(with_padding[::-1].lstrip("="))):
            if inner:
                yield plain(inner)
                if depth > 1:
                    yield from _decoded(inner, depth - 1)
    for found in islice(_HEX.finditer(text), _MOST_PIECES):
        try:
            yield plain(bytes.fromhex(found[0].replace("\\x", "")).decode())
        except ValueError:
            continue


def _base64(piece: str) -> str:
    try:
        data = base64.b64decode(piece + "=" * (-len(piece) % 4), validate=True)
        text = data.decode()
    except (binascii.Error, ValueError):
        try:
            text = data.decode("utf-16-le") if len(data) > 16 and data[1::2].count(0) > len(data) // 3 else ""
        except (UnboundLocalError, ValueError):
            return ""
    readable = sum(c.isprintable() or c in "\n\t\r" for c in text)
    return text if text and readable > 0.95 * len(text) else ""
