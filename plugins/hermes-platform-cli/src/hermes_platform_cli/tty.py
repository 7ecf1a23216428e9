"""The terminal's own modes: quiet while Hermes owns it, and as found on every way out."""

import asyncio
import atexit
import contextlib
import os
import signal
import termios
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, TextIO

__all__ = ["Tty"]

_LEAVE = "\x1b[0m\x1b[?7h\x1b[?25h\x1b[?2004l"
_DEADLY = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


class Tty:
    """Holds a terminal, or only Ctrl+C when ``fd`` is None.

    There is no echo between prompts, so that what is typed ahead waits for the next one. Signal handlers are chained
    with what was there before; outside the main thread none are set.
    """

    def __init__(self, fd: int | None, stdout: TextIO, on_interrupt: Callable[[], bool]) -> None:
        self._fd = fd
        self._stdout = stdout
        self._on_interrupt = on_interrupt
        self._found: list[Any] | None = None
        self._handlers: dict[int, Any] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self.on_resume: Callable[[], None] = lambda: None

    def take(self) -> None:
        """Remember how the terminal was and make it quiet."""
        self._loop = asyncio.get_running_loop()
        main = threading.current_thread() is threading.main_thread()
        if main:
            self._handle(signal.SIGINT, self._interrupted)
        if self._fd is None:
            return
        self._found = termios.tcgetattr(self._fd)
        atexit.register(self.restore)
        if main:
            for number in _DEADLY:
                self._handle(number, self._dying)
            if signal.getsignal(signal.SIGTSTP) is signal.SIG_DFL:
                self._handle(signal.SIGTSTP, self._stopping)
        self._quiet(self._fd)

    def give_back(self) -> None:
        """Everything as it was found: modes, cursor, signal handlers."""
        for number, before in self._handlers.items():
            signal.signal(number, before if before is not None else signal.SIG_DFL)
        self._handlers = {}
        self.restore()
        atexit.unregister(self.restore)
        self._found = None
        self._loop = None

    def restore(self, when: int = termios.TCSADRAIN) -> None:
        """The modes as found. Quiet when the terminal is gone."""
        if self._found is None:
            return
        with contextlib.suppress(OSError, ValueError):
            self._stdout.write(_LEAVE)
            self._stdout.flush()
        self._set(self._found, when)

    def typed_ahead(self) -> str:
        """Take what was typed since the last prompt, as text; keys that are no text are dropped."""
        import select

        if self._fd is None:
            return ""
        data = b""
        with contextlib.suppress(OSError):
            while len(data) < 65536 and select.select([self._fd], [], [], 0)[0] and (some := os.read(self._fd, 4096)):
                data += some
        from hermes_platform_kit.clean import clean

        return clean(data.decode(errors="replace").replace("\r", "\n"))

    def _quiet(self, fd: int) -> None:
        modes = termios.tcgetattr(fd)
        modes[0] &= ~(termios.IXON | termios.ICRNL)  # Ctrl+S must not stop the loop; Enter must stay Enter
        modes[3] &= ~(termios.ECHO | termios.ICANON)
        modes[3] |= termios.ISIG | termios.NOFLSH  # Ctrl+C must not cost what was typed ahead
        modes[6] = [*modes[6]]
        modes[6][termios.VMIN], modes[6][termios.VTIME] = 1, 0
        self._set(modes)

    def _set(self, modes: list[Any], when: int = termios.TCSADRAIN) -> None:
        # From the background this call would stop the process; the shell has its own modes by then anyway.
        with contextlib.suppress(OSError, termios.error):
            if self._fd is not None and os.tcgetpgrp(self._fd) == os.getpgrp():
                termios.tcsetattr(self._fd, when, modes)

    def _handle(self, number: signal.Signals, handler: Callable[[int, FrameType | None], None]) -> None:
        self._handlers[number] = signal.signal(number, handler)

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        # In a signal handler nothing may be awaited or drawn; the loop does that.
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._interrupt_now)

    def _interrupt_now(self) -> None:
        if not self._on_interrupt():
            self._pass_on(signal.SIGINT, None)

    def _dying(self, number: int, frame: FrameType | None) -> None:
        # Keys that were meant for us, and what the terminal answered us, must not become a command of the shell.
        self.restore(termios.TCSAFLUSH)
        self._pass_on(number, frame)

    def _pass_on(self, number: int, frame: FrameType | None) -> None:
        before = self._handlers.pop(number, None)
        signal.signal(number, before if before is not None else signal.SIG_DFL)
        if callable(before):
            before(number, frame)
        elif before != signal.SIG_IGN:
            signal.raise_signal(number)

    def _stopping(self, number: int, frame: FrameType | None) -> None:
        self.restore()
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)
        # Here the person has brought us back.
        signal.signal(signal.SIGTSTP, self._stopping)
        if self._fd is not None:
            self._quiet(self._fd)
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.on_resume)
