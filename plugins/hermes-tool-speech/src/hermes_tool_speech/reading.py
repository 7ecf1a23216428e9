"""An answer that is read aloud while it is written: what of it is to be said next, and how far it was heard."""

import asyncio
import re
import time
from bisect import bisect_left
from collections import deque
from collections.abc import Sequence

from hermes_tool_speech.spoken import spoken
from hermes_tool_speech.ways import LONGEST

__all__ = ["Reading", "sentences"]

_SHORT, _LONG = 40, 300  # characters of what is said in one go
_TAIL = 60  # characters that tell where an answer was cut
_STOPS = re.compile(r"(?<=[.!?…。！？])\s+|\n+|(?<=[。！？])")
_FENCE = re.compile(r"^ *(?:```|~~~)", re.MULTILINE)
_OPEN = re.compile(r"!?\[[^\]\n]*(?:\](?:\([^)\n]*)?)?\Z")  # a link whose end has not come


def sentences(text: str) -> Sequence[str]:
    """Cut a text into what is said in one go: whole sentences, none very short, none very long."""
    found: list[str] = []
    for one in _STOPS.split(text):
        piece = one.strip()
        while len(piece) > _LONG:
            end = max(piece.rfind(sign, _SHORT, _LONG) for sign in (", ", "; ", " "))
            end = end + 1 if end > 0 else _LONG
            found.append(piece[:end].strip())
            piece = piece[end:].strip()
        if piece and found and len(found[-1]) < _SHORT and len(found[-1]) + len(piece) < _LONG:
            found[-1] = f"{found[-1]} {piece}"
        elif piece:
            found.append(piece)
    return found


class Reading:
    """What is said of one turn. Words are fed as they come; pieces are taken as they are said."""

    def __init__(self, turn: str) -> None:
        self.turn = turn
        self.outside = asyncio.Event()  # what is said may repeat what is from outside
        self.over = False  # nothing comes any more
        self.left = False  # the person left it before its end, and speaks
        self._text, self._at, self._skips = "", 0, False  # of the reply that comes: all, how much of it was cut
        self._given = 0  # characters of it that are to be said
        self._pieces, self._said = deque[str](), list[str]()
        self._come = asyncio.Event()
        self._now, self._begun, self._length = "", 0.0, 0.0  # what is being said, since when, how long it is

    # --- what is to be said -----------------------------------------------------------------------------------------

    def feed(self, text: str, *, whole: bool) -> None:
        """Take all that has come of a reply, and whether that is the ``whole`` of it."""
        if not text.startswith(self._text):  # another reply, or this one anew
            self._begin_reply()
        self._text = text
        rest = text[self._at :]
        if end := len(rest) if whole else _whole_sentences(rest):
            self._at += end
            for piece in () if self._skips else sentences(spoken(rest[:end])):
                if self._given < LONGEST:  # the rest is read
                    self._pieces.append(piece)
                    self._given += len(piece)
        if whole:
            self._begin_reply()
            self._text = ""
        self._come.set()

    def _begin_reply(self) -> None:
        self._at, self._given, self._skips = 0, 0, False

    def skip(self) -> None:
        """Say no more of the reply that comes now, and nothing of what waits."""
        self._skips = bool(self._text)
        self._pieces.clear()

    def end(self) -> None:
        """Nothing comes any more."""
        self.over = True
        self._come.set()

    @property
    def waits(self) -> bool:
        """Whether there is something to say."""
        return bool(self._pieces)

    async def take(self) -> str | None:
        """What is said next, once it is there; None where nothing comes any more."""
        while not self._pieces:
            if self.over:
                return None
            self._come.clear()
            await self._come.wait()
        return self._pieces.popleft()

    # --- how far it was heard ---------------------------------------------------------------------------------------

    @property
    def sounds(self) -> bool:
        """Whether something of it is being said now."""
        return bool(self._begun)

    def begin(self, piece: str, seconds: float) -> None:
        """A piece is being said from now on."""
        self._now, self._begun, self._length = piece, time.monotonic(), seconds

    def done(self) -> None:
        """It was said whole."""
        self._said.append(self._now)
        self._now, self._begun = "", 0.0

    def cut(self) -> str:
        """Say where it is cut off now, for the model; empty where it was heard whole."""
        if self.over and not (self._now or self._pieces):
            return ""
        share = min(1.0, (time.monotonic() - self._begun) / self._length) if self._begun and self._length else 0.0
        part = self._now[: int(len(self._now) * share)]
        if share < 1 and " " in self._now:
            part = part[: part.rfind(" ") + 1]  # whole words
        heard = " ".join([*self._said, part]).strip()
        tail = heard if len(heard) <= _TAIL else f"…{heard[-_TAIL:]}"
        where = f"behind “{tail}”; the person did not hear the rest" if heard else "before a word of it was heard"
        return f"Your answer was being read aloud, and was cut off {where}."


def _whole_sentences(text: str) -> int:
    """How much of a text that still comes can be said: whole sentences, outside of code and links."""
    fences = [one.start() for one in _FENCE.finditer(text)]
    text = text[: fences[-1]] if len(fences) % 2 else text
    for stop in reversed([one.end() for one in _STOPS.finditer(text)]):
        if stop < _SHORT:
            break
        if bisect_left(fences, stop) % 2 == 0 and not _OPEN.search(text, max(0, stop - _LONG), stop):
            return stop
    return 0
