"""One connection to a terminal: what it is sent, and what of a turn is written on it."""

import asyncio
import io
from collections.abc import Mapping
from typing import Any, TextIO, cast

from hermes_front.wire import frame
from hermes_platform_kit.answers import Answers

__all__ = ["Screen"]

_HELD = 8 << 20  # bytes that wait for a terminal which does not read; above, it is let go


class Screen:
    """A terminal that is connected. What is sent never waits for it: a turn is held up by nobody who looks on."""

    def __init__(self, writer: asyncio.StreamWriter, told: Mapping[str, Any]) -> None:
        self._writer, tty = writer, told.get("tty")
        out, err = tty if isinstance(tty, list) and len(tty) == 2 else (False, False)
        self.answers = Answers(_side(self, "o", out is True), _side(self, "e", err is True))

    def send(self, **told: Any) -> None:
        """Send a frame, if the terminal is there and reads."""
        if self._writer.is_closing():
            return
        self._writer.write(frame(**told))
        if self._writer.transport.get_write_buffer_size() > _HELD:
            self._writer.transport.abort()


class _Side(io.TextIOBase):
    """Stdout or stderr of a terminal elsewhere."""

    def __init__(self, screen: Screen, name: str, tty: bool) -> None:
        self._screen, self._name, self._tty = screen, name, tty

    def isatty(self) -> bool:
        return self._tty

    def write(self, text: str) -> int:
        self._screen.send(**{self._name: text})
        return len(text)


def _side(screen: Screen, name: str, tty: bool) -> TextIO:
    return cast("TextIO", _Side(screen, name, tty))
