"""The arguments of one call: JSON that comes in pieces, of which it is asked in between whether it is whole."""

import json
import re

__all__ = ["Arguments", "reads"]

BLANK = " \t\n\r"  # what JSON takes for white space
SCALAR = 64  # characters; nobody calls a tool with a longer number or word
_SIGN = re.compile(r'[\[\]{}"]')
_IN_WORD = re.compile(r'\\.?|"', re.DOTALL)


class Arguments:
    """The pieces so far. To ask costs what came since it was asked last, however often and at whatever place."""

    def __init__(self) -> None:
        self.size = 0
        self._pieces: list[str] = []
        self._looked = 0  # pieces that were looked at
        self._begun = self._nested = False
        self._depth = 0
        self._word = self._escaped = False  # within quotes, and behind a backslash there
        self._closed = self._more = False  # the value has ended, and something came behind it
        self._reads: bool | None = None

    def add(self, piece: str) -> None:
        """Take the next piece."""
        self._pieces.append(piece)
        self.size += len(piece)

    def text(self) -> str:
        """All of it."""
        return "".join(self._pieces)

    def complete(self) -> bool:
        """Whether it can be read as JSON."""
        for piece in self._pieces[self._looked :]:
            self._look(piece)
        self._looked = len(self._pieces)
        if not self._nested:
            return self.size <= SCALAR and reads(self.text())
        if self._reads is None and self._closed:
            self._reads = reads(self.text())
        return bool(self._reads) and not self._more

    def _look(self, piece: str) -> None:
        at = 0
        if not self._begun and (rest := piece.lstrip(BLANK)):
            self._begun, self._nested = True, rest[0] in '{["'
        if self._escaped:
            at, self._escaped = 1, False
        while self._nested and not self._closed:
            found = (_IN_WORD if self._word else _SIGN).search(piece, at)
            if found is None:
                return
            at, sign = found.end(), found[0]
            if sign == '"':
                self._word = not self._word
            elif self._word:
                self._escaped = sign == "\\"
            else:
                self._depth += 1 if sign in "[{" else -1
            self._closed = self._depth <= 0 and not self._word
        self._more = self._more or bool(piece[at:].strip(BLANK))


def reads(text: str) -> bool:
    """Whether a text is JSON."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
