"""What a process printed, in bounded memory and in a bounded file, and what its screen shows."""

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_tool_terminal.text import Cleaner, clean

if TYPE_CHECKING:
    from pyte import ByteStream, HistoryScreen

__all__ = ["Output"]

MOST = 200_000  # bytes that are kept of one process
_FILE = 400_000  # bytes after which its file is begun anew with what is kept
_SCROLLED = 2_000  # lines above a screen that are kept
_WATCHED = 10_000  # characters of a line that is watched for


class Output:
    """The last of what a process printed. The file is for whoever comes after a death; without one nothing is kept."""

    def __init__(self, path: Path, *, tty: bool) -> None:
        self._path = path
        self._kept = bytearray()
        self._size = 0
        self._read = self.total = 0
        self._line = ""
        self._cleaner = Cleaner()
        self._screen = _terminal() if tty else None

    def take(self, data: bytes) -> list[str]:
        """Keep a piece; the lines that it ended, as a person would read them."""
        self._kept += data
        self.total += len(data)
        if len(self._kept) > 2 * MOST:
            del self._kept[:-MOST]
        self._write(data)
        if self._screen:
            with contextlib.suppress(Exception):  # an odd sequence costs the picture of it, not the process
                self._screen[1].feed(data)
        *lines, self._line = (self._line + self._cleaner.feed(data)).replace("\r", "\n").split("\n")
        self._line = self._line[-_WATCHED:]
        return lines

    def _write(self, data: bytes) -> None:
        with contextlib.suppress(OSError):
            whole = self._size + len(data) > _FILE
            if not self._size:
                self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with self._path.open("wb" if whole else "ab") as file:
                file.write(self._kept[-MOST:] if whole else data)
            self._size = min(len(self._kept), MOST) if whole else self._size + len(data)

    def restore(self, data: bytes) -> None:
        """Take over what was printed before, or else what the file has of it; it counts as read."""
        with contextlib.suppress(OSError):
            data = data or self._path.read_bytes()
            self._path.unlink(missing_ok=True)
        self.take(data)
        self._read = self.total

    def unread(self) -> str:
        """What came since this was last asked."""
        new, self._read = self.total - self._read, self.total
        return self._tail(new)

    def last(self, characters: int) -> str:
        """The end of all of it: of a terminal, what a person could scroll back to."""
        if self._screen:
            return "\n".join([*_scrolled(self._screen[0]), self.screen()])[-characters:]
        return self._tail(len(self._kept))[-characters:]

    def _tail(self, size: int) -> str:
        size = min(size, len(self._kept), MOST)
        return clean(self._kept[-size:].decode(errors="replace")) if size else ""

    @property
    def line(self) -> str:
        """The line that has not ended: a prompt, or a bar that moves."""
        return self._line

    def screen(self) -> str:
        """What the terminal shows now; empty for a process without one."""
        if not self._screen:
            return ""
        shown = self._screen[0]
        lines = [line.rstrip() for line in shown.display]
        while lines and not lines[-1]:
            lines.pop()
        return "\n".join(lines)

    def forget(self) -> None:
        """Take its file away."""
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)


def _terminal() -> "tuple[HistoryScreen, ByteStream]":
    from pyte import ByteStream, HistoryScreen

    screen = HistoryScreen(80, 24, history=_SCROLLED)
    return screen, ByteStream(screen)


def _scrolled(screen: "HistoryScreen") -> list[str]:
    return ["".join(line[column].data for column in range(screen.columns)).rstrip() for line in screen.history.top]
