"""Terminal output as plain text: no escape sequences, no overwritten lines, no more than a model should read."""

import codecs

from hermes_core.patterns import pattern

BUDGET = 50_000  # bytes; the kernel's own bound, so that nothing is cut twice
LINES = 2_000
NOTICE = 400  # room for the line that says what is missing

_ESCAPE = pattern(
    r"\x1b(?:\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\|\[[0-?]*[ -/]*[@-~]|[ -/]*[0-OQ-WYZ\\`a-~])"
    r"|\x9b[0-?]*[ -/]*[@-~]"
)
_LONGEST = 64  # characters of an escape that is waited for
_BEGUN = pattern(r"(?:\x1b(?:\][^\x07\x1b]*\x1b?|[PX^_][^\x1b]*\x1b?|\[[0-?]*[ -/]*|[ -/]*)|\x9b[0-?]*[ -/]*|\r)\Z")
_CONTROL = pattern(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_OVERSTRUCK = pattern(r"[^\b\n]\x08")


def clean(text: str) -> str:
    """What a person would see on the screen at the end."""
    text = _ESCAPE.sub("", text).replace("\r\n", "\n")
    if "\r" in text:
        text = "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
    return _CONTROL.sub("", _OVERSTRUCK.sub("", text))


def cut(text: str, where: str) -> str:
    """Head and tail of a text over the budget, with a line between them that says what is missing and where it is."""
    lines = text.count("\n") + 1
    if len(text.encode()) <= BUDGET and lines <= LINES:
        return text
    room = (BUDGET - NOTICE) // 2
    head, tail = _head(text, room), _tail(text, room)
    left_out = len(text) - len(head) - len(tail)
    return f"{head}\n[... {left_out:,} of {len(text):,} characters left out{where} ...]\n{tail}"


def _head(text: str, room: int) -> str:
    text = "\n".join(text[:room].split("\n", LINES // 2 - 2)[: LINES // 2 - 2])
    return text.encode()[:room].decode(errors="ignore")


def _tail(text: str, room: int) -> str:
    text = "\n".join(text[-room:].rsplit("\n", LINES // 2 - 2)[-(LINES // 2 - 2) :])
    return text.encode()[-room:].decode(errors="ignore")


class Cleaner:
    """Cleans output piece by piece, for live display; characters and escapes may be split between pieces."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._held = ""

    def feed(self, data: bytes) -> str:
        """What can be shown now."""
        text = self._held + self._decoder.decode(data)
        begun = _BEGUN.search(text, max(0, len(text) - _LONGEST))
        text, self._held = (text[: begun.start()], begun[0]) if begun else (text, "")
        return _CONTROL.sub("", _ESCAPE.sub("", text).replace("\r\n", "\n"))
