"""Faults of an app go to the log, in one line to the person, and the loop stays as it was."""

import asyncio
import logging
import os
import signal

import pytest
from textual.app import App, ComposeResult
from textual.widgets import Static

from hermes_core.masking import put_to_use
from hermes_platform_tui.terminal.driver import LEAVE, Output
from hermes_platform_tui.terminal.restore import Restorer, restoring, tell
from hermes_platform_tui.terminal.safe import SafeApp


class Small(SafeApp[str]):
    def __init__(self, fault: Exception | None = None) -> None:
        super().__init__()
        self.fault = fault

    def compose(self) -> ComposeResult:
        yield Static("here")

    def on_mount(self) -> None:
        if self.fault:
            raise self.fault


class Rich(Exception):
    def __rich__(self) -> str:
        return "drawn by rich"


async def run(app: SafeApp[str], then: object = None) -> object:
    """Without a terminal."""
    return await app.run_async(headless=True, auto_pilot=then)  # type: ignore[arg-type]


@pytest.mark.parametrize("fault", [RuntimeError("secret local"), Rich("secret local")])
async def test_a_fault_is_kept_and_logged_and_not_printed(
    fault: Exception, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    app = Small(fault)
    with caplog.at_level(logging.ERROR, "hermes"):
        await run(app)
    assert app.crash is fault
    assert app.return_code == 1
    captured = capsys.readouterr()
    assert captured.out + captured.err == ""
    assert [record.exc_info[1] for record in caplog.records if record.exc_info] == [fault]


async def test_the_first_fault_counts_and_panic_is_one() -> None:
    app = Small()

    async def both(_pilot: object) -> None:
        app.panic("one")
        app.panic("two")

    await run(app, both)
    assert str(app.crash) == "one"


async def test_what_an_app_says_at_its_end_is_still_said(capsys: pytest.CaptureFixture[str]) -> None:
    app = Small()

    async def leave(_pilot: object) -> None:
        app.exit("done", message="Goodbye.")

    assert await run(app, leave) == "done"
    assert "Goodbye." in capsys.readouterr().err
    assert app.crash is None


async def test_the_loop_keeps_its_kind_of_tasks() -> None:
    loop = asyncio.get_running_loop()
    before = loop.get_task_factory()
    seen = []
    app = Small()

    async def look(_pilot: object) -> None:
        seen.append(loop.get_task_factory())
        app.exit()

    await run(app, look)
    assert seen == [before]
    assert loop.get_task_factory() is before


def test_the_line_is_clean_short_and_without_secrets(capsys: pytest.CaptureFixture[str]) -> None:
    key = "sk-ant-api03-" + "a1B2" * 24

    class Known:
        """A kernel that knows the key."""

        def always(self, text: str) -> str:
            return text.replace(key, "***")

        def is_token(self, value: str) -> bool:
            return False

    kernel = Known()
    put_to_use(kernel)
    tell(ValueError(f"bad\x1b[31m key {key}\nmore " + "x" * 500), "hermes logs")
    line = capsys.readouterr().err
    assert line.startswith("The full screen stopped: ValueError: bad key ")
    assert line.endswith("…. See: hermes logs\n")
    assert "a1B2a1B2" not in line
    assert "\x1b" not in line
    assert len(line) < 240
    tell(KeyError(), "hermes logs")
    assert capsys.readouterr().err == "The full screen stopped: KeyError. See: hermes logs\n"


async def test_signals_are_heard_within_and_as_before_after() -> None:
    heard: list[str] = []
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGTSTP)}
    app: App[None] = App()
    with restoring(app, on_leave=lambda: heard.append("left")) as restorer:
        os.kill(os.getpid(), signal.SIGTERM)
        await app.run_async(headless=True)
    assert heard == ["left"]
    assert restorer.caught is signal.SIGTERM
    assert app.return_code == 128 + signal.SIGTERM
    assert {number: signal.getsignal(number) for number in before} == before


async def test_an_ignored_hangup_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with restoring(App()):
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


async def test_what_should_happen_before_the_end_may_fail(caplog: pytest.LogCaptureFixture) -> None:
    app: App[None] = App()
    restorer = Restorer(app, on_leave=lambda: 1 / 0)  # type: ignore[arg-type, return-value]
    restorer.take()
    restorer.leave()
    restorer.give_back()
    assert app._exit
    assert "failed" in caplog.text


def test_a_lost_terminal_swallows_what_is_written() -> None:
    reading, writing = os.pipe()
    lost: list[int] = []
    output = Output(writing, "utf-8", lambda: lost.append(1))
    output.write("a\ud800é")
    output.flush()
    assert os.read(reading, 10) == "a?é".encode()
    os.close(reading)
    before = signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    try:
        for _ in range(3):
            output.write("x" * 70_000)
            output.flush()
    finally:
        signal.signal(signal.SIGPIPE, before)
        os.close(writing)
    assert output.gone
    assert lost == [1]


def test_a_terminal_that_takes_little_at_a_time_gets_all() -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    text, got = "é" * 200_000, bytearray()
    import threading

    def read() -> None:
        while len(got) < 400_000:
            got.extend(os.read(reading, 3333))

    thread = threading.Thread(target=read)
    thread.start()
    output = Output(writing, "utf-8", lambda: None)
    output.write(text)
    output.flush()
    thread.join(10)
    os.close(reading)
    os.close(writing)
    assert got.decode() == text


def test_leaving_switches_off_all_that_is_ever_switched_on() -> None:
    for mode in (1000, 1002, 1003, 1004, 1006, 1015, 1016, 2004, 2026, 2048, 1049):
        assert f"\x1b[?{mode}l" in LEAVE
    for words in ("\x1b[<u", "\x1b[?25h", "\x1b[?7h", "\x1b[0m"):
        assert words in LEAVE
    assert LEAVE.index("\x1b[<u") < LEAVE.index("\x1b[?1049l"), "the keyboard belongs to the screen that is left"
