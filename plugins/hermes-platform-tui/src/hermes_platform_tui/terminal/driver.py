"""The terminal as Textual drives it, with what its own driver leaves open.

Textual's driver prints a traceback when the terminal goes, spins on its end, stops for ever where nobody can continue
it, starts twice when it is continued without having been stopped, and dies of a byte that is not UTF-8.
"""

import contextlib
import fcntl
import os
import select
import signal
import struct
import sys
import termios
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterable
from types import FrameType
from typing import IO, TYPE_CHECKING, Any, cast

from textual import events
from textual._parser import ParseError
from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message

from hermes_platform_tui.terminal.pasted import PasteFilter

if TYPE_CHECKING:
    from textual.app import App

__all__ = ["LEAVE", "KeyParser", "Output", "TerminalDriver"]

# Whatever Textual may have switched on: a frame in the making, mouse, paste, focus, sizes, the keyboard of the screen
# that we leave; then back to the screen as it was, with line wrap, a cursor and plain letters.
_SWITCHES = "".join(f"\x1b[?{mode}l" for mode in (2026, 1000, 1002, 1003, 1015, 1006, 1016, 2004, 1004, 2048))
LEAVE = f"{_SWITCHES}\x1b]22;default\x1b\\\x1b[<u\x1b[?7h\x1b[0m\x1b[?1049l\x1b[?25h"
_REST = "\x1b[?2026l\x1b[?1016l\x1b[0m"  # what Textual's own way out forgets
_HELD = 65_536  # characters kept back until a write
_READ = 65_536
_PATIENCE = 1.0  # seconds for the thread that reads to notice that it should not


class Output:
    """Text to the terminal. When it is lost, what is written goes nowhere and ``lost`` is told, once."""

    def __init__(self, fd: int, encoding: str, lost: Callable[[], None]) -> None:
        self._fd, self._encoding, self._lost = fd, encoding, lost
        self._held: list[str] = []
        self._size = 0
        self.gone = False

    def write(self, text: str) -> int:
        """Keep a text until ``flush``, or until there is much of it."""
        self._held.append(text)
        self._size += len(text)
        if self._size > _HELD:
            self.flush()
        return len(text)

    def flush(self) -> None:
        """Write what was kept; waits as long as the terminal does not read."""
        data = memoryview("".join(self._held).encode(self._encoding, "replace"))
        self._held, self._size = [], 0
        while data and not self.gone:
            try:
                data = data[os.write(self._fd, data) :]
            except BlockingIOError:  # another program with this terminal made it so
                select.select([], [self._fd], [], 1.0)
            except (OSError, ValueError):
                self.gone = True
                self._lost()

    def fileno(self) -> int:
        """The descriptor."""
        return self._fd

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return os.isatty(self._fd)


class KeyParser(XTermParser):
    """Textual's parser, in which Alt and a digit are that key, not the letter that macOS would write."""

    def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterable[events.Key]:
        if len(sequence) == 2 and sequence[0] == "\x1b" and sequence[1] in "0123456789":
            yield events.Key(f"alt+{sequence[1]}", None)
            return
        yield from super()._sequence_to_key_events(sequence, alt)


class TerminalDriver(LinuxDriver):
    """Textual's driver for a person's terminal. ``on_lost`` is called in the loop when the terminal is gone.

    ``active`` says whether the terminal is ours now; ``found`` is how it was before. What ``last_words`` return is
    written whenever it is given back.
    """

    def __init__(
        self,
        app: "App[Any]",
        *,
        debug: bool = False,
        mouse: bool = True,
        size: tuple[int, int] | None = None,
        found: list[Any] | None = None,
        on_lost: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        stream = sys.__stdout__ if sys.__stdout__ is not None and sys.__stdout__.isatty() else sys.__stderr__
        assert stream is not None
        self.output = Output(stream.fileno(), stream.encoding or "utf-8", self._lose)
        self._file = cast("IO[str]", self.output)  # type: ignore[assignment]
        self.found = found
        self.active = False
        self.leaving = False
        self.last_words: list[Callable[[], str]] = []
        self._on_lost = on_lost or app.exit
        self._told = False
        self._stopped = False
        self._early = 0  # bytes of lines that were typed before the terminal was ours

    def write(self, data: str) -> None:
        """Write, unless the terminal is not ours now: what nobody takes up would fill Textual's queue and block."""
        thread = self._writer_thread
        if thread is not None and thread.is_alive():
            thread.write(data)

    def start_application_mode(self) -> None:
        """Take the terminal."""
        self._early = _lines_there(self.fileno)
        super().start_application_mode()  # type: ignore[no-untyped-call]
        # In the background Textual gives up early, and tries again when the process is continued.
        self.active = self._writer_thread is not None and self._writer_thread.is_alive()

    def stop_application_mode(self) -> None:
        """Give the terminal back; nothing when it is not ours."""
        if not self.active:
            return
        # Set from the background, the modes would be the shell's, and setting them would stop this process.
        self.attrs_before = self.found if self.is_foreground() else None
        self.write(_REST + "".join(word() for word in self.last_words))
        super().stop_application_mode()
        self.active = False

    def disable_input(self) -> None:
        """Read no more. Nothing when the terminal is not ours: to touch it from the background stops a process."""
        if self.active:
            super().disable_input()

    def is_foreground(self) -> bool:
        """Whether the terminal listens to this process now. One that is not our own to be stopped by always does."""
        try:
            return os.tcgetpgrp(self.fileno) == os.getpgrp()
        except OSError:
            return True

    def make_parser(self) -> XTermParser:
        """What makes keys of what is typed."""
        return KeyParser(self._debug)

    def take(self, messages: Iterable[Message]) -> None:
        """Hand on what was typed."""
        for message in messages:
            self.process_message(message)

    def run_input_thread(self) -> None:
        """Read what is typed. Raises OSError when the terminal is gone."""
        parser = self.make_parser()
        decode, pasted = getincrementaldecoder("utf-8")(errors="replace").decode, PasteFilter()
        try:
            while not self.exit_event.is_set():
                if select.select([self.fileno], [], [], 0.1)[0]:
                    data = os.read(self.fileno, _READ)
                    if not data:
                        raise OSError("the terminal was hung up")
                    data, self._early = _sent(data, self._early), max(0, self._early - len(data))
                    self.take(parser.feed(text) if (text := pasted.feed(decode(data))) else ())
                self.take(parser.tick())
        finally:
            with contextlib.suppress(EOFError, ParseError):
                list(parser.feed(""))

    def _run_input_thread(self) -> None:
        try:
            self.run_input_thread()
        except OSError:
            self._lose()
        except Exception as error:  # noqa: BLE001 - it goes where all faults of the app go
            self._soon(self._app._handle_exception, error)

    def _lose(self) -> None:
        """From any thread: there is no terminal any more."""
        self.output.gone = True
        self._soon(self._tell_lost)

    def _tell_lost(self) -> None:
        if not self._told:
            self._told = True
            self._on_lost()

    def _soon(self, call: Callable[..., None], *arguments: object) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits for it
            self._loop.call_soon_threadsafe(call, *arguments)

    # A handler may interrupt the very queue that it would write to, so it only wakes the loop.

    def _sigtstp_application(self, *_: int | FrameType | None) -> None:
        if self.active and self._auto_restart:
            self._soon(self._suspend)
        else:  # another program has the terminal, and the loop may wait for it
            self._stop()

    def _sigcont_application(self, *_: int | FrameType | None) -> None:
        self._soon(self._continue)

    def _suspend(self) -> None:
        if not self.active:
            return
        self._must_signal_resume = True
        self.suspend_application_mode()
        self._stopped = True
        self._stop()
        self._soon(self._continue)

    def _stop(self) -> None:
        """Stop, with all that was started with us. Where nobody could continue us, the system does not stop us."""
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.killpg(os.getpgrp(), signal.SIGTSTP)
        # Here somebody has continued us.
        signal.signal(signal.SIGTSTP, self._sigtstp_application)

    def _continue(self) -> None:
        if self.leaving or self.output.gone:
            return  # killed while it was stopped: it does not come back for that
        if self.active and not self._stopped and self._auto_restart:
            # Stopped with SIGSTOP: whoever had the terminal meanwhile left it in another state.
            self.suspend_application_mode()
            self._stopped = True
        if self._stopped:
            self.resume_application_mode()
            self._stopped = not self.active
            if self.active:
                self._app.refresh(layout=True)

    def stop_reading(self) -> None:
        """Read no key more: the next is for whoever comes after us."""
        self.exit_event.set()
        if self._key_thread is not None:
            self._key_thread.join(_PATIENCE)

    def restore_now(self) -> None:
        """The modes of the terminal's line discipline as found, at once and from anywhere."""
        if self.found is not None and self.is_foreground():
            with contextlib.suppress(OSError, termios.error):
                termios.tcsetattr(self.fileno, termios.TCSANOW, self.found)


def _lines_there(fd: int) -> int:
    """Return how many bytes of whole lines wait to be read: what was typed before anybody took each key."""
    try:
        if not termios.tcgetattr(fd)[3] & termios.ICANON:
            return 0
        count: int = struct.unpack("i", fcntl.ioctl(fd, termios.FIONREAD, b"\0" * 4))[0]
    except (OSError, termios.error):
        return 0
    return count


def _sent(data: bytes, early: int) -> bytes:
    """Return what was read with the Enter that ended its first, ``early`` bytes as that key.

    The system had made a line feed of it, which is the key for another line.
    """
    if 0 < early <= len(data) and data[early - 1 : early] == b"\n":
        return data[: early - 1] + b"\r" + data[early:]
    return data
