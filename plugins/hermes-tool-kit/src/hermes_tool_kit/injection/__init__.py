"""Does a text try to take over the agent that reads it? Words and shapes, not meaning.

This is help, not a boundary: what a file may make the agent do is decided by the policy. A file that hides text,
tells the agent to drop its instructions, to deceive the person or to carry secrets away is not shown to the model.
"""

import base64
import binascii
import html
import re
import unicodedata
from collections.abc import Iterator
from itertools import islice

from hermes_tool_kit.injection.patterns import COMMANDS, COMMENT, CONDITION, HIDDEN, ROLE, SPOKEN, TO_AN_AGENT

__all__ = ["scan"]

_MOST = 500_000  # characters
_I = re.IGNORECASE | re.DOTALL

_INVISIBLE = "\u200b\u200c\u200d\u2060\u2061\u2062\u2063\u2064\u00ad\u180e\ufeff"
_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")
_TAGS = re.compile("[\U000e0000-\U000e007f]")
_FLAG = re.compile("\U0001f3f4[\U000e0061-\U000e007a\U000e0030-\U000e0039]{2,6}\U000e007f")
_SPLIT_WORD = re.compile(f"[A-Za-z][{_INVISIBLE.replace(chr(0xAD), '')}]+[A-Za-z]")  # soft hyphens are common
_STRIP = {ord(c): None for c in _INVISIBLE}
_ALIKE = str.maketrans("аеорсухіѕјԁһԛԝɡοερτυνκ", "aeopcyxisjdhqwgoeptuvk")  # letters that look alike

_SPOKEN = tuple((why, re.compile(pattern, _I)) for why, pattern in SPOKEN)
_COMMANDS = tuple((why, re.compile(pattern, re.IGNORECASE)) for why, pattern in COMMANDS)
_CODE = re.compile(r"```.*?```|~~~.*?~~~|`[^`\n]*`", re.DOTALL)
_LONG = re.compile(r"[A-Za-z0-9+/]{32,8000}={0,2}")


def scan(text: str) -> str:
    """Say why a text must not be shown to a model; empty when nothing speaks against it."""
    text = text[:_MOST]
    if why := _unseen(text):
        return why
    for version in _versions(text):
        if why := _commanded(version) or _spoken(_flowing(version)):
            return why
    return _markup(text)


def _unseen(text: str) -> str:
    if _BIDI.search(text):
        return "it turns the direction of text around, so that people read other words than the model"
    if _TAGS.search(_FLAG.sub("", text)):
        return "it holds characters that nobody can see"
    if len(_SPLIT_WORD.findall(text)) >= 2:
        return "it hides characters inside of words"
    return ""


def _versions(text: str) -> Iterator[str]:
    """The text as a model may read it: as it is, without disguises, and what is encoded in it."""
    plain = _plain(text)
    yield plain
    loose = _plain(re.sub(r"(?<=\w)[*_~`|]+(?=\w)", "", html.unescape(text)).translate(_ALIKE))
    if loose != plain:
        yield loose
    for found in islice(_LONG.finditer(text), 50):
        try:
            inner = base64.b64decode(found.group() + "=" * (-len(found.group()) % 4), validate=True).decode("utf-8")
        except (binascii.Error, ValueError):
            continue
        yield _plain(inner)


def _plain(text: str) -> str:
    """One form for each character, none that is invisible, and each command on one line."""
    return unicodedata.normalize("NFKC", text).translate(_STRIP).replace("\\\n", " ")


def _flowing(text: str) -> str:
    """Lines joined as a reader joins them, without the signs of quotes, lists and comments at their ends."""
    return re.sub(r"(?:(?<![ \t\r\f\v>#])[ \t\r\f\v>#]+|)\n[ \t\r\f\v>#/*-]*|[ \t\u00a0]+", " ", text)


def _commanded(text: str) -> str:
    return next((why for why, pattern in _COMMANDS if pattern.search(text)), "")


def _spoken(text: str) -> str:
    for why, pattern in _SPOKEN:
        for found in pattern.finditer(text):
            if not CONDITION.search(text[max(0, found.start() - 160) : found.start()]):
                return why
    return ""


def _markup(text: str) -> str:
    for found in COMMENT.finditer(text):
        if TO_AN_AGENT.search(_flowing(_plain(found.group(1)))):
            return "it speaks to the agent in a comment that people do not see"
    for found in HIDDEN.finditer(text):
        if re.sub(r"<[^>]*>|\s", "", found.group(2)):
            return "it holds text that people do not see"
    if ROLE.search(_CODE.sub("", text)):
        return "it pretends to be a message of another role"
    return ""
