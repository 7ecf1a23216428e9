"""The driver and the restorer on a terminal of the test's own, within one process."""

import asyncio
import os
import pty
import signal
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from textual.app import ComposeResult
from textual.widgets import Input, Static

from hermes_platform_tui.terminal.driver import LEAVE, KeyParser, TerminalDriver
from hermes_platform_tui.terminal.restore import Restorer, restoring, run_safely
from hermes_platform_tui.terminal.safe import SafeApp
from hermes_platform_tui.terminal.title import Title

pytestmark = pytest.mark.real_time


class Terminal:
    """Our end of a terminal: what was drawn, and keys."""

    def __init__(self) -> None:
        self.ours, self.theirs = pty.openpty()
        termios.tcsetwinsize(self.theirs, (24, 80))
        self.shown = bytearray()
        self._reading = threading.Thread(target=self._read, daemon=True)
        self._reading.start()
        self.found = termios.tcgetattr(self.theirs)

    def _read(self) -> None:
        try:
            while data := os.read(self.ours, 65_536):
                self.shown += data
        except OSError:
            pass

    def type(self, data: bytes) -> None:
        os.write(self.ours, data)

    def close(self) -> None:
        os.close(self.theirs)
        self._reading.join()  # else it would read from whatever gets the number of its descriptor next
        os.close(self.ours)

    @property
    def modes(self) -> list[Any]:
        return termios.tcgetattr(self.theirs)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    one = Terminal()
    kept = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGTSTP, signal.SIGCONT)}
    with open(one.theirs, closefd=False) as stdin, open(one.theirs, "w", closefd=False) as stdout:
        monkeypatch.setattr(sys, "__stdin__", stdin)
        monkeypatch.setattr(sys, "__stdout__", stdout)
        monkeypatch.delenv("NO_COLOR", raising=False)
        monkeypatch.setenv("TERM", "xterm-256color")
        yield one
    assert {number: signal.getsignal(number) for number in kept} == kept
    one.close()


class Small(SafeApp[None]):
    def compose(self) -> ComposeResult:
        yield Static("up and running")
        yield Input()

    @property
    def tty(self) -> TerminalDriver:
        assert isinstance(self._driver, TerminalDriver)
        return self._driver


async def until(seen: Callable[[], object]) -> None:
    async with asyncio.timeout(20):
        while not seen():
            await asyncio.sleep(0.01)


async def drive(terminal: Terminal, app: Small, then: Callable[[], Any], **options: Any) -> BaseException | None:
    """Run the app, and do that once it is on the screen."""
    running = asyncio.create_task(run_safely(app, **options))
    await until(lambda: b"up and running" in terminal.shown or running.done())
    await then()
    return await asyncio.wait_for(running, 20)


@pytest.fixture(autouse=True)
def at_that_terminal(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """The restorer looks at descriptor 0, which is not the test's."""
    made = Restorer.__init__

    def init(self: Restorer, *arguments: Any, **options: Any) -> None:
        made(self, *arguments, **{"fd": terminal.theirs, **options})

    monkeypatch.setattr(Restorer, "__init__", init)


async def test_keys_come_in_and_all_modes_go_back(terminal: Terminal) -> None:
    app = Small()

    async def type_and_leave() -> None:
        assert terminal.modes != terminal.found
        terminal.type("\xffh\u00e9llo".encode("latin-1") + "日".encode())
        await until(lambda: app.query_one(Input).value.endswith("日"))
        app.exit()

    assert await drive(terminal, app, type_and_leave) is None
    assert terminal.modes == terminal.found
    await until(lambda: terminal.shown.endswith(b"\x1b[?1004l"))
    for mode in (1000, 1003, 1004, 1006, 1015, 1016, 2004, 2026, 1049):
        assert f"\x1b[?{mode}l".encode() in terminal.shown
    assert terminal.shown.rindex(b"\x1b[?1049l") > terminal.shown.rindex(b"\x1b[?1049h")


async def test_a_line_that_was_typed_before_the_terminal_was_ours_is_sent_by_its_enter(terminal: Terminal) -> None:
    keys: list[str] = []

    class Told(Small):
        def on_input_submitted(self, event: Input.Submitted) -> None:
            keys.append(event.value)

    app = Told()
    terminal.type(b"when?\r")

    async def leave() -> None:
        await until(lambda: keys)
        terminal.type(b"\n")  # this one is the key for another line
        terminal.type(b"!")
        await until(lambda: app.query_one(Input).value.endswith("!"))
        app.exit()

    assert await drive(terminal, app, leave) is None
    assert keys == ["when?"]


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT"])
async def test_a_signal_ends_it_in_order(terminal: Terminal, name: str) -> None:
    app, left = Small(), []

    async def kill() -> None:
        os.kill(os.getpid(), getattr(signal, name))

    assert await drive(terminal, app, kill, on_leave=lambda: left.append(1)) is None
    assert app.restorer
    assert app.restorer.caught == getattr(signal, name)
    assert left == [1]
    assert terminal.modes == terminal.found


async def test_a_stop_gives_everything_back_and_takes_it_again(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = Small()
    stopped: list[tuple[bool, bytes]] = []

    def stop(driver: TerminalDriver) -> None:
        end = time.monotonic() + 20
        while not terminal.shown.endswith(b"\x1b[?1004l") and time.monotonic() < end:
            time.sleep(0.01)
        stopped.append((terminal.modes == terminal.found, bytes(terminal.shown)))
        terminal.shown.clear()

    monkeypatch.setattr(TerminalDriver, "_stop", stop)

    async def stop_and_leave() -> None:
        assert app.restorer
        title = Title(app.tty.write)
        app.restorer.last_words.append(title.end)
        title.show("busy")
        for turn in range(2):
            os.kill(os.getpid(), signal.SIGTSTP)
            await until(lambda turn=turn: len(stopped) == turn + 1 and b"up and running" in terminal.shown)
        terminal.type(b"x")
        await until(lambda: app.query_one(Input).value == "x")
        app.exit()

    assert await drive(terminal, app, stop_and_leave) is None
    assert [as_found for as_found, _ in stopped] == [True, True]
    assert stopped[0][1].rstrip().endswith(b"\x1b[?1004l")
    assert b"\x1b[23;0t" in stopped[0][1]
    assert terminal.modes == terminal.found


def own_threads() -> list[str]:
    """Those of the app; what others started here may end meanwhile."""
    return sorted(thread.name for thread in threading.enumerate() if thread.name.startswith("textual"))


async def test_continued_without_having_been_stopped_it_starts_only_once(terminal: Terminal) -> None:
    app = Small()

    async def carry_on() -> None:
        before = own_threads()
        terminal.shown.clear()
        os.kill(os.getpid(), signal.SIGCONT)
        await until(lambda: b"up and running" in terminal.shown)
        assert own_threads() == before
        app.exit()

    assert await drive(terminal, app, carry_on) is None
    assert terminal.modes == terminal.found


async def test_what_is_drawn_while_another_has_the_terminal_goes_nowhere(terminal: Terminal) -> None:
    app = Small()

    async def lend() -> None:
        with app.suspend():
            assert terminal.modes == terminal.found
            await until(lambda: terminal.shown.endswith(b"\x1b[?1004l"))
            before = bytes(terminal.shown)
            for number in range(100):  # Textual's own queue holds thirty, and blocks
                app.tty.write(f"frame {number}")
            app.tty.stop_application_mode()
            app.tty.disable_input()
            assert bytes(terminal.shown) == before
        app.exit()

    assert await drive(terminal, app, lend) is None
    assert b"frame" not in terminal.shown


async def test_a_fault_outside_the_app_restores_too(terminal: Terminal) -> None:
    app = Small()

    async def fail() -> None:
        with restoring(app) as restorer:
            restorer.last_words.append(lambda: "LAST")
            running.append(asyncio.create_task(app.run_async()))
            await until(lambda: b"up and running" in terminal.shown)
            raise LookupError

    running: list[asyncio.Task[None]] = []
    with pytest.raises(LookupError):
        await fail()
    assert terminal.modes == terminal.found
    await until(lambda: LEAVE.encode() in terminal.shown)
    assert b"\x18LAST" in terminal.shown
    app.exit()
    await running[0]
    assert terminal.modes == terminal.found


async def test_a_lost_terminal_ends_it(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    app, left = Small(), []
    read = os.read

    def gone(fd: int, size: int) -> bytes:
        data = read(fd, size)
        return b"" if fd == app.tty.fileno else data

    async def lose() -> None:
        monkeypatch.setattr("hermes_platform_tui.terminal.driver.os.read", gone)
        terminal.type(b"x")

    assert await drive(terminal, app, lose, on_leave=lambda: left.append(1)) is None
    assert app.restorer
    assert app.restorer.lost
    assert left == [1]


async def test_a_fault_while_reading_is_a_crash(terminal: Terminal, capsys: pytest.CaptureFixture[str]) -> None:
    app = Small()

    async def spoil() -> None:
        app.tty.process_message = lambda _: 1 / 0  # type: ignore[method-assign, assignment, return-value]
        terminal.type(b"x")

    assert isinstance(await drive(terminal, app, spoil), ZeroDivisionError)
    assert "The full screen stopped: ZeroDivisionError: division by zero. See: hermes logs" in capsys.readouterr().err
    assert terminal.modes == terminal.found


async def test_stopped_and_killed_it_does_not_come_back(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    app = Small()

    def stop(driver: TerminalDriver) -> None:
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(TerminalDriver, "_stop", stop)

    async def suspend() -> None:
        terminal.shown.clear()
        os.kill(os.getpid(), signal.SIGTSTP)

    assert await drive(terminal, app, suspend) is None
    assert b"\x1b[?1049h" not in terminal.shown
    assert terminal.modes == terminal.found


@pytest.mark.parametrize("digit", "123456789")
def test_alt_and_a_digit_is_that_key_and_not_the_letter_of_a_mac(digit: str) -> None:
    assert [event.key for event in KeyParser().feed(f"\x1b{digit}")] == [f"alt+{digit}"]
