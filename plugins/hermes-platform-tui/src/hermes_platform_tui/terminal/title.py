"""The title of the terminal's window."""

from collections.abc import Callable

from hermes_platform_tui.terminal.plain import plain

__all__ = ["Title"]

_PUSH, _POP = "\x1b[22;0t", "\x1b[23;0t"
_LONGEST = 80


class Title:
    """Shows titles from the first ``show`` to ``restore``; the one that was there before comes back.

    ``write`` takes what goes to the terminal. Give ``end`` to the Restorer's ``last_words``, and ``off`` where titles
    are not wanted.
    """

    def __init__(self, write: Callable[[str], object], *, off: bool = False) -> None:
        self._write = write
        self._off = off
        self._shown: str | None = None
        self._last = ""

    def show(self, text: str) -> None:
        """Show a title; foreign text is cleaned and cut. The same one again costs nothing."""
        text = plain(text, _LONGEST)
        if self._off or text == self._shown:
            return
        first = self._shown is None
        self._shown = self._last = text
        self._write(f"{_PUSH if first else ''}\x1b]2;{text}\x1b\\")

    def again(self) -> None:
        """Show the last title again, after the terminal was given back for a while."""
        if self._last:
            self.show(self._last)

    def restore(self) -> None:
        """Bring the title back that was there before."""
        if words := self.end():
            self._write(words)

    def end(self) -> str:
        """What brings the old title back, for whoever writes it; nothing when none was shown."""
        if self._shown is None:
            return ""
        self._shown = None
        # Terminals that keep no titles are at least left without ours: an empty one is their default.
        return f"\x1b]2;\x1b\\{_POP}"
