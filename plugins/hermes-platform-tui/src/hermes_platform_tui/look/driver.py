"""Textual's driver for Unix terminals, with an ear for what the terminal says of its background."""

import os
import sys
import threading
import time
from collections.abc import Iterable, Mapping

from textual._xterm_parser import XTermParser
from textual.driver import Driver
from textual.message import Message

from hermes_platform_tui.look.background import ASK, FOLLOW, UNFOLLOW, Stream, can_ask
from hermes_platform_tui.look.colour import Rgb
from hermes_platform_tui.terminal.driver import KeyParser, TerminalDriver

__all__ = ["BackgroundSeen", "ListeningDriver", "listening_driver"]

_HOLD = 0.1  # as long as Textual itself waits for what may follow an escape
_PARTING = 0.15


class BackgroundSeen(Message):
    """The terminal told its background: ``App.on_background_seen`` chooses the skin anew."""

    def __init__(self, colour: Rgb) -> None:
        super().__init__()
        self.colour = colour


class _Parser(KeyParser):
    """The parser of keys, which never sees an answer."""

    def __init__(self, stream: Stream, debug: bool = False) -> None:
        super().__init__(debug)
        self._stream = stream
        self._since = 0.0

    def feed(self, data: str) -> Iterable[Message]:
        if not data:
            if held := self._stream.release():
                yield from super().feed(held)
            yield from super().feed("")
            return
        rest, told = self._stream.feed(data)
        self._since = time.monotonic()
        yield from (BackgroundSeen(colour) for colour in told)
        if rest:
            yield from super().feed(rest)

    def tick(self) -> Iterable[Message]:
        if self._stream.holding and time.monotonic() - self._since >= _HOLD:
            yield from super().feed(self._stream.release())
        yield from super().tick()


class ListeningDriver(TerminalDriver):
    """Asks once when the application begins, and again when the terminal turns light or dark."""

    _stream: Stream
    _answered: threading.Event
    _asked = 0.0

    def start_application_mode(self) -> None:
        """Also after a stop (Ctrl+Z): the terminal may be another one by then."""
        self._stream = Stream()
        self._answered = threading.Event()
        super().start_application_mode()
        if self.active and can_ask(os.environ, self.input_tty):
            # The stream listens before the question is out.
            self._stream.following = True
            self.write(FOLLOW)
            self._ask()

    def _ask(self) -> None:
        self._answered.clear()
        self._stream.turned = False
        self._stream.waiting = True
        self._asked = time.monotonic()
        self.write(ASK)
        self.flush()

    def stop_application_mode(self) -> None:
        stream = getattr(self, "_stream", None)
        if stream is not None and stream.following:
            self.write(UNFOLLOW)
            self.flush()
            # An answer that comes after us would be typed into the shell.
            if stream.waiting:
                self._answered.wait(max(0.0, self._asked + _PARTING - time.monotonic()))
        super().stop_application_mode()

    def make_parser(self) -> XTermParser:
        return _Parser(self._stream, self._debug)

    def take(self, messages: Iterable[Message]) -> None:
        super().take(messages)
        if self._stream.turned:
            self._ask()
        if not self._stream.waiting:
            self._answered.set()


def listening_driver(environ: Mapping[str, str]) -> type[Driver] | None:
    """The driver for ``App(driver_class=…)``, or None where Textual's own choice is right (a browser, Windows)."""
    if "TEXTUAL_DRIVER" in environ or sys.platform == "win32":
        return None
    return ListeningDriver
