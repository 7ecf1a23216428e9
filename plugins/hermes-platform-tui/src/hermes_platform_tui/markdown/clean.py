"""Text from models, tools and strangers, made safe to show: none of it may drive the terminal or lie about its width.

It is done in stages, each of which looks at the result of the one before: what a stage takes out must not make a new
sequence of what stood around it. A stream goes through the same stages; each holds back what the next piece may change.
"""

import re
from collections.abc import Callable

from hermes_core.patterns import pattern

__all__ = ["SEQUENCE", "Cleaner", "clean"]

_LONGEST = 4096  # characters of an OSC or DCS string; longer ones are text
_MARKS = 8  # combining marks on one letter; more of them run over the rows above and below

_BODY = rf"[^\x07\x1b\x90\x98\x9c-\x9f\n]{{0,{_LONGEST}}}"  # another beginning ends it: else each would look this far
_STRING = rf"[\]PX^_]{_BODY}"  # OSC, DCS, SOS, PM, APC up to their end
_C1_STRING = rf"[\x90\x98\x9d\x9e\x9f]{_BODY}"
_CONTROL = r"[0-?]{0,64}[ -/]{0,8}"
SEQUENCE = pattern(
    rf"\x1b\[{_CONTROL}[@-~]|\x1b{_STRING}(?:\x07|\x1b\\|\x9c)|\x1b[ -/]{{0,8}}[0-~]"
    rf"|\x9b{_CONTROL}[@-~]|{_C1_STRING}(?:\x07|\x1b\\|\x9c)"
)
_OPEN_SEQUENCE = pattern(rf"(?:\x1b(?:\[{_CONTROL}|{_STRING}\x1b?|[ -/]{{0,8}})?|\x9b{_CONTROL}|{_C1_STRING}\x1b?)\Z")

_BREAKS = pattern("\r\n|[\r\x85\u2028\u2029]")
# Controls; soft hyphens, whose width no two terminals agree on; overrides of direction; marks of order; annotations.
_DROPPED = pattern("[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u202a-\u202e\u2066-\u206f\ufeff\ufff9-\ufffb]")
_BROKEN = pattern("([\ud800-\udbff][\udc00-\udfff])|[\ud800-\udfff\ufffe\uffff]")

# Flags of regions are spelled with tags. Elsewhere tags are writing that nobody sees.
_TAGS = pattern("(\U0001f3f4[\U000e0020-\U000e007e]{1,7}\U000e007f)|[\U000e0000-\U000e007f]")
_OPEN_TAGS = pattern("\U0001f3f4[\U000e0020-\U000e007e]{0,7}\\Z")

# Emoji are joined by U+200D. Elsewhere it makes widths uncertain.
_PICTURE = (
    "\xa9\xae\u203c\u2049\u2122\u2139\u2194-\u21ff\u2300-\u23ff\u2460-\u2bff\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001faff\U000e007f"
)
_JOINER = pattern(f"(?<=[{_PICTURE}\ufe0f])(\u200d)(?=[{_PICTURE}])|\u200d")

_COMBINING = "\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
_PILE = pattern(f"([{_COMBINING}]{{{_MARKS}}})[{_COMBINING}]+")

_SUSPECT = pattern(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u200d\u2028-\u202e\u2066-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff\ud800-\udfff"
    f"\U000e0000-\U000e007f\U0001f3f4{_COMBINING}]"
)


def _kept(found: re.Match[str]) -> str:
    return found[1] or ""


def _whole(found: re.Match[str]) -> str:
    return found[1].encode("utf-16-le", "surrogatepass").decode("utf-16-le") if found[1] else "\ufffd"


class _Stage:
    """One look at a stream. ``held`` may be part of something; ``before`` is shown, and decides on what follows."""

    def __init__(
        self,
        pattern: re.Pattern[str],
        change: str | Callable[[re.Match[str]], str],
        unfinished: re.Pattern[str] | None = None,
        context: re.Pattern[str] | None = None,
    ) -> None:
        self.held = self.before = ""
        self._pattern, self._change = pattern, change
        self._unfinished, self._context = unfinished, context

    def feed(self, piece: str, *, last: bool) -> str:
        text = self.before + self.held + piece
        self.held = ""
        if self._unfinished and not last and (cut := self._unfinished.search(text, max(0, len(text) - _LONGEST - 4))):
            text, self.held = text[: cut.start()], text[cut.start() :]
        done = self._pattern.sub(self._change, text)[len(self.before) :]
        if self._context and done:
            end = self._context.search((self.before + done)[-_MARKS:])
            self.before = end[0] if end else ""
        return done


_Change = str | Callable[[re.Match[str]], str]
_STAGES: list[tuple[re.Pattern[str], _Change, re.Pattern[str] | None, re.Pattern[str] | None]] = [
    (SEQUENCE, "", _OPEN_SEQUENCE, None),
    (_BREAKS, "\n", re.compile(r"\r\Z"), None),
    (_DROPPED, "", None, None),
    (_BROKEN, _whole, re.compile("[\ud800-\udbff]\\Z"), None),
    (_TAGS, _kept, _OPEN_TAGS, None),
    (_JOINER, _kept, re.compile("\u200d\\Z"), re.compile(f"[{_PICTURE}\ufe0f]\\Z")),
    (_PILE, r"\1", None, re.compile(f"[{_COMBINING}]+\\Z")),
]


def clean(text: str) -> str:
    """The text without escape sequences, control characters and direction overrides; tabs and line ends stay."""
    if not _SUSPECT.search(text):
        return text
    for found, change, *_ in _STAGES:
        text = found.sub(change, text)
    return text


class Cleaner:
    """Cleans a stream of pieces. Whatever the pieces, together they give what ``clean`` gives for the whole."""

    def __init__(self) -> None:
        self._stages = [_Stage(*stage) for stage in _STAGES]
        self._waits = False

    def feed(self, piece: str) -> str:
        """The part of the stream that can be shown now."""
        if not self._waits and piece.isascii() and not _SUSPECT.search(piece):
            return piece
        return self._run(piece, last=False)

    def finish(self) -> str:
        """What was held back at the end of the stream."""
        return self._run("", last=True) if self._waits else ""

    def _run(self, text: str, *, last: bool) -> str:
        for stage in self._stages:
            text = stage.feed(text, last=last)
        self._waits = any(stage.held or stage.before for stage in self._stages)
        return text
