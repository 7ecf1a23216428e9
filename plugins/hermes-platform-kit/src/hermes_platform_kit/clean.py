"""Text from models, tools and strangers, made safe to show: none of it may drive the terminal."""

import re
import unicodedata

__all__ = ["Cleaner", "clean", "exact", "whole"]

_BODY = r"[^\x07\x1b\x90\x98\x9c-\x9f\n]{0,4096}"  # another beginning ends it: else each would look this far
_STRING = rf"[\]PX^_]{_BODY}"  # OSC, DCS, SOS, PM, APC up to their end
_C1 = rf"\x9b[0-?]{{0,64}}[ -/]{{0,8}}|[\x90\x98\x9d\x9e\x9f]{_BODY}\x1b?"
_SEQUENCE = re.compile(
    rf"\x1b\[[0-?]{{0,64}}[ -/]{{0,8}}[@-~]|\x1b{_STRING}(?:\x07|\x1b\\|\x9c)|\x1b[ -/]{{0,8}}[0-~]"
    rf"|\x9b[0-?]{{0,64}}[ -/]{{0,8}}[@-~]|[\x90\x98\x9d\x9e\x9f]{_BODY}(?:\x07|\x1b\\|\x9c)"
)
_UNFINISHED = re.compile(
    rf"(?:\x1b(?:\[[0-?]{{0,64}}[ -/]{{0,8}}|{_STRING}\x1b?|[ -/]{{0,8}})?|{_C1}|\r|[\ud800-\udbff])\Z"
)
_SUSPECT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_DROPPED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_BREAKS = re.compile("\r\n|[\r\x85\u2028\u2029]")
_BLANK_LETTERS = frozenset("\u115f\u1160\u3164\uffa0\u2800")


def _scrub(text: str) -> str:
    text = _SEQUENCE.sub("", text)
    text = _BREAKS.sub("\n", text)
    text = _DROPPED.sub("", text)
    return whole(text)


def whole(text: str) -> str:
    """The text as it is, but for NUL and lone surrogates, which nothing can store."""
    return text.replace("\0", "").encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def clean(text: str) -> str:
    """The text without escape sequences, control characters, direction overrides and lone surrogates."""
    return _scrub(text) if _SUSPECT.search(text) else text


class Cleaner:
    """Cleans a stream of pieces; an escape sequence may be cut anywhere between two of them."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> str:
        """The part of the stream that can be shown now."""
        if not self._held and not _SUSPECT.search(piece):
            return piece
        text = self._held + piece
        cut = _UNFINISHED.search(text)
        self._held = text[cut.start() :] if cut else ""
        return _scrub(text[: cut.start()] if cut else text)

    def finish(self) -> str:
        """What was held back at the end of the stream."""
        held, self._held = self._held, ""
        return _scrub(held)


def exact(text: str) -> str:
    """The text with everything invisible spelled out, for questions where a person must see what will run."""
    return "".join(_spell(character) for character in text)


def _spell(character: str) -> str:
    if character == "\n" or " " <= character <= "~":
        return character
    category = unicodedata.category(character)
    if category[0] != "C" and category not in ("Zs", "Zl", "Zp") and character not in _BLANK_LETTERS:
        return character
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
