"""The terminal's background: what it answers, in the stream of what is typed.

The question is OSC 11, and the answer comes where keys come. Textual's parser does not know it and would type
``]11;rgb:…`` into the input. Asking before the application starts is no way out: an answer that is late (a slow
line) still arrives among the keys, and keys typed meanwhile are lost. So the question is asked when the application
has begun, nothing waits, and the answer is taken out of the stream before the parser sees it. A second question that
every terminal answers, the device attributes, follows: when that answer is there, no other will come.
"""

from collections.abc import Mapping

from hermes_core.patterns import pattern
from hermes_core.values import define
from hermes_platform_tui.look.colour import Rgb

__all__ = ["ASK", "FOLLOW", "UNFOLLOW", "Stream", "can_ask", "from_colorfgbg", "parse_colour"]

ASK = "\x1b]11;?\x1b\\\x1b[c"
"""The question for the background, and the one that ends the waiting."""
FOLLOW = "\x1b[?2031h"
"""Asks to be told when the terminal turns light or dark; others ignore it."""
UNFOLLOW = "\x1b[?2031l"

_ANSWER = pattern(r"\x1b\]11;([^\x07\x1b]{0,64})(?:\x07|\x1b\\)|\x1b\[\?[\d;]{0,32}(c)|\x1b\[\?997;[12](n)")
_TURNED = pattern(r"\x1b\[\?997;[12]n")
_BEGUN = pattern(r"\x1b(?:\](?:1(?:1(?:;[^\x07\x1b]{0,64}\x1b?)?)?)?|\[(?:\?[\d;]{0,32})?)?\Z")
_TURNING = pattern(r"\x1b\[\?[\d;]{1,32}\Z")
_HEX = pattern(r"#((?:[0-9a-fA-F]{3}){1,4})\Z")
_CHANNELS = pattern(r"rgba?:([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})(?:/[0-9a-fA-F]{1,4})?\Z")


def parse_colour(text: str) -> Rgb | None:
    """A colour as X11 writes it: ``rgb:1e1e/1e1e/2e2e`` with one to four digits each, ``rgba:``, or ``#1e1e2e``."""
    if found := _CHANNELS.match(text):
        parts = [found[1], found[2], found[3]]
    elif found := _HEX.match(text):
        size = len(found[1]) // 3
        parts = [found[1][at : at + size] for at in range(0, 3 * size, size)]
    else:
        return None
    return Rgb(*(round(int(part, 16) * 255 / (16 ** len(part) - 1)) for part in parts))


def from_colorfgbg(text: str) -> bool | None:
    """Whether ``COLORFGBG`` (``15;0``, ``0;default;15``) tells of a dark background; None when it tells nothing."""
    last = text.rpartition(";")[2].strip()
    if not (last.isascii() and last.isdecimal()) or ";" not in text or int(last) > 15:
        return None
    return int(last) not in {7, *range(9, 16)}


def can_ask(environ: Mapping[str, str], tty: bool) -> bool:
    """Whether the terminal is of a kind that takes the question without showing it."""
    term = environ.get("TERM", "")
    return tty and term not in {"", "dumb", "linux", "unknown"} and not term.startswith(("eterm", "vt1", "vt2"))


@define
class Stream:
    """What comes from the terminal, without the answers in it. Pieces may be cut anywhere."""

    waiting: bool = False
    """Whether an answer is still to come. Without one all but the news of a turn passes untouched."""
    following: bool = False
    turned: bool = False
    """Whether the terminal has told that it turned light or dark, so that it is worth asking again."""
    _held: str = ""

    def feed(self, data: str) -> tuple[str, list[Rgb]]:
        """What remains for the application, and the backgrounds that were told."""
        if not (self.waiting or self.following) or not (self._held or "\x1b" in data):
            return data, []
        data, self._held = self._held + data, ""
        told: list[Rgb] = []
        kept: list[str] = []
        at = 0
        while self.waiting and (found := _ANSWER.search(data, at)):
            kept.append(data[at : found.start()])
            at = found.end()
            if found[3]:
                self.turned = True
                continue
            if found[2]:
                self.waiting = False
            elif colour := parse_colour(found[1]):
                told.append(colour)
        rest = data[at:]
        if self.following and _TURNED.search(rest):
            self.turned = True
            rest = _TURNED.sub("", rest)
        if begun := (_BEGUN if self.waiting else _TURNING).search(rest):
            rest, self._held = rest[: begun.start()], begun[0]
        return "".join(kept) + rest, told

    @property
    def holding(self) -> bool:
        """Whether the beginning of an answer is held back, which may be a key after all."""
        return bool(self._held)

    def release(self) -> str:
        """Give up what is held: nothing followed, so it was a key."""
        held, self._held = self._held, ""
        return held
