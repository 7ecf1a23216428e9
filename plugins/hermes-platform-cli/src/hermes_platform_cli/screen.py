"""The lower end of a terminal: rows that stay, and below them a few live rows that are redrawn."""

import os
from collections.abc import Callable, Iterable, Sequence

from hermes_platform_cli.width import cells, clip

__all__ = ["DIM", "RESET", "Screen"]

DIM, RESET = "\x1b[2m", "\x1b[0m"
_HIDE, _SHOW = "\x1b[?25l", "\x1b[?25h"
_NO_WRAP, _WRAP = "\x1b[?7l", "\x1b[?7h"


class Screen:
    """Prints rows above a live region that it erases and draws again, all in one write.

    Live rows are drawn with the terminal's wrapping off, so that each takes exactly one row even where the terminal
    and we disagree about the width of a character.
    """

    def __init__(self, write: Callable[[str], None], size: Callable[[], os.terminal_size]) -> None:
        self._write = write
        self._size = size
        self._waiting: list[str] = []
        self._drawn: list[int] = []  # columns of each live row on the screen

    @property
    def size(self) -> os.terminal_size:
        """Columns and lines as they are now."""
        return self._size()

    def commit(self, rows: Iterable[str]) -> None:
        """Rows to stay, printed with the next paint."""
        self._waiting += rows

    def paint(self, live: Sequence[tuple[str, str]] = ()) -> None:
        """Print what waits and draw the live rows: pairs of a style code and plain text."""
        if not self._waiting and not live and not self._drawn:
            return
        columns, lines = self._size()
        shown = [(style, clip(text, columns)) for style, text in live[-max(1, lines - 1) :]]
        out = [self._erase(columns)]
        out += [row + "\n" for row in self._waiting]
        if shown:
            out.append(_HIDE + _NO_WRAP)
            out.append("\n".join(f"{style}{text}{RESET}" if style and text else text for style, text in shown))
            out.append(_WRAP)
        elif self._drawn:
            out.append(_SHOW)
        self._waiting = []
        self._drawn = [cells(text) for _, text in shown]
        self._write("".join(out))

    def forget(self) -> None:
        """The live rows are gone: someone else cleared or scrolled the screen."""
        self._drawn = []

    def _erase(self, columns: int) -> str:
        """Go back over the live rows; a terminal that became narrower has folded them."""
        if not self._drawn:
            return ""
        rows = sum(max(1, -(-width // columns)) for width in self._drawn)
        return f"\r\x1b[{rows - 1}A\x1b[J" if rows > 1 else "\r\x1b[J"
