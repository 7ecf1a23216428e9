"""The terminal is left as it was found, whatever ends the app."""

import asyncio
import atexit
import contextlib
import logging
import os
import select
import signal
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any, cast

from textual.drivers.linux_driver import LinuxDriver

from hermes_platform_tui.terminal.driver import LEAVE, TerminalDriver
from hermes_platform_tui.terminal.plain import plain
from hermes_platform_tui.terminal.safe import SafeApp

if TYPE_CHECKING:
    from textual.app import App
    from textual.driver import Driver

__all__ = ["Restorer", "restoring", "run_safely"]

log = logging.getLogger(f"hermes.{__name__}")
_ASKED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_TAKEN = (signal.SIGTSTP, signal.SIGCONT, signal.SIGWINCH, signal.SIGTTOU, signal.SIGTTIN)  # by Textual, for good
_GRACE = 10.0  # seconds the app has to end after a signal


class Restorer:
    """Stands around one run of an app; made and used in the main thread, inside the running loop.

    The first SIGINT, SIGTERM, SIGHUP or SIGQUIT calls ``on_leave`` and asks the app to exit; ``caught`` says which it
    was. A second one ends the process at once, with the terminal restored. So does ``grace`` seconds of silence.
    What ``last_words`` return is written whenever the terminal is given back, for good or to be taken again: the old
    title, say.
    """

    def __init__(
        self,
        app: "App[Any]",
        *,
        on_leave: Callable[[], None] | None = None,
        grace: float = _GRACE,
        fd: int = 0,
        driver: type[TerminalDriver] = TerminalDriver,
    ) -> None:
        self.app = app
        self.caught: signal.Signals | None = None
        self.lost = False
        self.last_words: list[Callable[[], str]] = []
        self._on_leave = on_leave
        self._grace = grace
        self._fd = fd
        self._found: list[Any] | None = None
        self._driver: TerminalDriver | None = None
        self._driver_class = driver
        self._handlers: dict[int, Any] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._bell = -1

    def take(self) -> None:
        """Remember how the terminal is, before Textual starts."""
        self._loop = asyncio.get_running_loop()
        with contextlib.suppress(OSError, termios.error):
            self._found = termios.tcgetattr(self._fd)
        if self.app.driver_class is LinuxDriver:  # not where a test or a browser drives it
            self.app.driver_class = cast("type[Driver]", self._drive)
        atexit.register(self.restore)
        heard, self._bell = os.pipe()
        threading.Thread(target=self._guard, args=(heard,), name="terminal-guard", daemon=True).start()
        if threading.current_thread() is not threading.main_thread():
            return
        for number in _TAKEN:
            self._handlers[number] = signal.getsignal(number)
        for number in _ASKED:
            if signal.getsignal(number) is not signal.SIG_IGN:  # nohup means it
                self._handlers[number] = signal.signal(number, self._asked)

    def give_back(self) -> None:
        """The end: the terminal, and who hears signals, as found."""
        driver = self._driver
        self.restore()
        if driver is not None:
            driver.stop_reading()
            if not driver.output.gone:
                driver.restore_now()
        for number, before in self._handlers.items():
            signal.signal(number, before if before is not None else signal.SIG_DFL)
        self._handlers = {}
        os.close(self._bell)
        self._bell = -1
        atexit.unregister(self.restore)
        self._driver = None
        self._loop = None

    def restore(self) -> None:
        """Take the terminal from an app that did not give it back; nothing when it did. From anywhere, at any time."""
        driver = self._driver
        if driver is None or not driver.active:
            return
        driver.active = False
        if driver.output.gone:
            return
        # CAN ends an escape sequence that was cut in the middle.
        _write(driver.output.fileno(), "\x18" + "".join(word() for word in self.last_words) + LEAVE)
        driver.restore_now()

    def leave(self) -> None:
        """Ask the app to end in good order."""
        if self._driver is not None:
            self._driver.leaving = True
        self._ring()
        if self._on_leave is not None:
            try:
                self._on_leave()
            except Exception:
                log.exception("what should happen before the end failed")
        self.app.exit(return_code=128 + self.caught if self.caught else 1)

    def _drive(self, app: "App[Any]", **options: Any) -> TerminalDriver:
        self._driver = self._driver_class(app, found=self._found, on_lost=self._lose, **options)
        self._driver.last_words = self.last_words
        return self._driver

    def _lose(self) -> None:
        self.lost = True
        log.info("the terminal is gone")
        if self.caught is None and signal.SIGHUP in self._handlers:  # as the system would say it, for all who hear it
            signal.raise_signal(signal.SIGHUP)
        elif self.caught is None:
            self.leave()

    def _asked(self, number: int, _frame: FrameType | None) -> None:
        # No lock may be taken in here, and no thread be started: what was interrupted may hold what that needs.
        loop = self._loop
        if self.caught is not None or loop is None or loop.is_closed():
            # A shell passes on the SIGHUP that the system has sent already: only another signal is impatience.
            if number != signal.SIGHUP:
                self._die(number)
            return
        self.caught = signal.Signals(number)
        if self._driver is not None:
            self._driver.leaving = True
        self._ring()
        loop.call_soon_threadsafe(self.leave)

    def _ring(self) -> None:
        if self._bell >= 0:
            os.write(self._bell, b"!")

    def _guard(self, heard: int) -> None:
        """End the process when the app does not: its loop may wait for a terminal that does not read."""
        try:
            if not os.read(heard, 1):
                return
            end = time.monotonic() + self._grace
            while (left := end - time.monotonic()) > 0:
                if select.select([heard], [], [], left)[0] and not os.read(heard, 16):
                    return
        finally:
            os.close(heard)
        self.restore()
        os.kill(os.getpid(), signal.SIGKILL)

    def _die(self, number: int) -> None:
        self.restore()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)


def _write(fd: int, text: str) -> None:
    with contextlib.suppress(OSError):
        if select.select([], [fd], [], 0)[1]:  # a terminal that does not read must not keep us from dying
            os.write(fd, text.encode())


@contextlib.contextmanager
def restoring(app: "App[Any]", **options: Any) -> "Iterator[Restorer]":
    """Run an app within: ``with restoring(app): await app.run_async()``. Options as for Restorer."""
    restorer = Restorer(app, **options)
    restorer.take()
    try:
        yield restorer
    finally:
        restorer.give_back()


async def run_safely(
    app: SafeApp[Any],
    *,
    on_leave: Callable[[], None] | None = None,
    mouse: bool = True,
    hint: str = "hermes logs",
    grace: float = _GRACE,
    driver: type[TerminalDriver] = TerminalDriver,
    **options: Any,
) -> BaseException | None:
    """Run the app to its end. What ended it, when that was a fault: logged, and told on stderr in one line.

    Cancellation, KeyboardInterrupt and SystemExit pass through. ``app.restorer`` is set meanwhile.
    """
    fault: BaseException | None = None
    try:
        with restoring(app, on_leave=on_leave, grace=grace, driver=driver) as app.restorer:
            await app.run_async(mouse=mouse, **options)
    except Exception as error:
        log.exception("the full screen failed")
        fault = error
    fault = app.crash or fault
    if fault is not None:
        tell(fault, hint)
    return fault


def tell(fault: BaseException, hint: str) -> None:
    """One line for the person; the traceback is in the log."""
    from hermes_core.masking import masked

    text = plain(masked(str(fault)), 160)
    name = type(fault).__name__
    line = f"The full screen stopped: {name}{': ' if text else ''}{text.rstrip('.')}. See: {hint}"
    with contextlib.suppress(OSError, ValueError):
        print(line, file=sys.stderr, flush=True)  # noqa: T201
