"""The terminal is left as it was found, on a real one: tmux."""

import fcntl
import importlib.util
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import termios
from collections.abc import Iterator
from pathlib import Path

import pytest

spec = importlib.util.spec_from_file_location("terminal_tmux", Path(__file__).with_name("terminal_tmux.py"))
assert spec
assert spec.loader
terminal_tmux = importlib.util.module_from_spec(spec)
spec.loader.exec_module(terminal_tmux)
Tmux, wait_for = terminal_tmux.Tmux, terminal_tmux.wait_for

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed"),
]
LEFT = re.compile(r"left-with-(\d+)")


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[Tmux]:
    terminal = Tmux(tmp_path)
    yield terminal
    terminal.end()


def alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def pending(process: int) -> bool:
    """Whether a handler has not run yet: the program sleeps when all have."""
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "S" or bool(
        int(re.search(r"ShdPnd:\s*(\w+)", Path(f"/proc/{process}/status").read_text())[1], 16)
    )


def status(tmux: Tmux) -> int:
    screen = tmux.until(LEFT.search)
    assert "Traceback" not in screen
    return int(LEFT.search(screen)[1])


def test_an_app_that_ends_leaves_no_trace(tmux: Tmux) -> None:
    before = tmux.state("before")
    tmux.start()
    assert tmux.title() == "small app"
    tmux.do("send-keys", "C-q")
    assert status(tmux) == 0
    assert tmux.state("after") == before
    assert "up and running" not in tmux.screen()


@pytest.mark.parametrize("name", ["INT", "TERM", "HUP", "QUIT"])
def test_a_signal_asks_the_app_to_end_and_the_program_goes_on_to_its_own_end(tmux: Tmux, name: str) -> None:
    before = tmux.state("before")
    tmux.start()
    os.kill(tmux.process(), getattr(signal, f"SIG{name}"))
    assert status(tmux) == 0
    assert tmux.state("after") == before
    assert (tmux.folder / "asked").exists()
    assert (tmux.folder / "left").read_text().startswith(str(int(getattr(signal, f"SIG{name}"))))


@pytest.mark.parametrize("name", ["INT", "TERM", "QUIT"])
def test_a_second_signal_ends_an_app_that_hangs_at_once(tmux: Tmux, name: str) -> None:
    before = tmux.state("before")
    tmux.start()
    process = tmux.process()
    tmux.do("send-keys", "F3")
    wait_for((tmux.folder / "spinning").exists)
    os.kill(process, signal.SIGTERM)
    wait_for(lambda: not pending(process))
    os.kill(process, signal.SIGHUP)  # a shell passes it on: no impatience
    wait_for(lambda: not pending(process))
    assert alive(process)
    os.kill(process, getattr(signal, f"SIG{name}"))
    if name == "INT":  # a shell does not go on with its line then
        wait_for(lambda: not alive(process))
    else:
        assert status(tmux) == 128 + getattr(signal, f"SIG{name}")
    assert tmux.state("after") == before
    assert not (tmux.folder / "asked").exists()


def test_a_hang_after_a_signal_ends_by_itself(tmux: Tmux) -> None:
    before = tmux.state("before")
    tmux.start("slow")
    os.kill(tmux.process(), signal.SIGTERM)
    assert status(tmux) == 128 + signal.SIGKILL
    assert tmux.state("after") == before


@pytest.mark.parametrize(("key", "text"), [("F2", "RuntimeError: it broke 14"), ("F5", "ValueError: the worker broke")])
def test_a_crash_is_one_line_and_the_rest_is_in_the_log(tmux: Tmux, key: str, text: str) -> None:
    before = tmux.state("before")
    tmux.start()
    tmux.do("send-keys", key)
    assert status(tmux) == 7
    screen = tmux.screen()
    assert text in screen.replace("\n", " ")
    assert "hermes logs" in screen
    assert "do-not-show-me" not in screen
    assert "╭" not in screen
    assert tmux.state("after") == before
    log = (tmux.folder / "log").read_text()
    assert "Traceback" in log
    assert text in log


def test_a_crash_at_the_start_shows_nothing_that_drives_the_terminal(tmux: Tmux) -> None:
    before = tmux.state("before")
    tmux.start("crash-at-start", seen="left-with-")
    assert status(tmux) == 7
    assert "RuntimeError: secret thing second line." in tmux.screen().replace("\n", " ")
    assert tmux.state("after") == before


def test_a_fault_after_the_app_finds_the_terminal_restored(tmux: Tmux) -> None:
    before = tmux.state("before")
    tmux.start("crash-outside")
    tmux.do("send-keys", "C-q")
    tmux.until(lambda screen: "LookupError: outside" in screen and LEFT.search(screen))
    assert tmux.state("after") == before


def suspended(tmux: Tmux) -> None:
    tmux.until(lambda screen: re.search(r"\[1\]\+\s+Stopped", screen))


@pytest.mark.parametrize("how", ["key", "signal"])
def test_ctrl_z_gives_the_terminal_back_and_fg_draws_again(tmux: Tmux, how: str) -> None:
    before = tmux.state("before")
    tmux.start()
    process = tmux.process()
    for turn in range(2):
        tmux.do("send-keys", "C-z") if how == "key" else os.kill(process, signal.SIGTSTP)
        suspended(tmux)
        assert tmux.state(f"stopped{turn}")[:2] == before[:2]
        tmux.type("clear; fg", "Enter")
        tmux.until(lambda screen: "up and running" in screen)
    tmux.type("typed")
    tmux.until(lambda screen: "typed" in screen)
    tmux.do("send-keys", "C-q")
    tmux.until(lambda screen: screen.rstrip().endswith("ready$"))
    assert tmux.state("after") == before


def test_a_terminal_that_another_left_differently_is_ours_again_after_fg(tmux: Tmux) -> None:
    before = tmux.state("before")
    tmux.start()
    os.kill(tmux.process(), signal.SIGSTOP)  # nobody can give anything back then
    tmux.until(lambda screen: "Stopped" in screen)
    tmux.type("fg", "Enter")
    tmux.until(lambda screen: "up and running" in screen and "Stopped" not in screen)
    tmux.type("typed")
    tmux.until(lambda screen: "typed" in screen)
    tmux.do("send-keys", "C-q")
    tmux.until(lambda screen: screen.rstrip().endswith("ready$"))
    assert tmux.state("after")[:2] == before[:2]


@pytest.mark.parametrize("name", ["TERM", "HUP", "INT"])
def test_an_app_killed_while_it_is_stopped_does_not_come_back_for_that(tmux: Tmux, name: str) -> None:
    before = tmux.state("before")
    tmux.start()
    process = tmux.process()
    tmux.do("send-keys", "C-z")
    suspended(tmux)
    tmux.type(f"kill -{name} %1; kill -CONT %1", "Enter")
    wait_for(lambda: not alive(process))
    assert (tmux.folder / "asked").exists()
    assert tmux.state("after")[:2] == before[:2]


def test_an_editor_has_the_terminal_as_it_was_found(tmux: Tmux) -> None:
    before = tmux.state("before")
    tmux.start()
    tmux.do("send-keys", "F4")
    tmux.until(lambda screen: "editing" in screen)
    assert (tmux.folder / "edit-modes").read_text().strip() == before[0]
    tmux.do("send-keys", "C-z")  # the editor and we stop together
    suspended(tmux)
    tmux.type("clear; fg", "Enter")
    tmux.until(lambda screen: "python" in screen)
    tmux.do("send-keys", "Enter")
    tmux.until(lambda screen: "up and running" in screen)
    tmux.do("send-keys", "C-q")
    tmux.until(lambda screen: screen.rstrip().endswith("ready$"))
    assert tmux.state("after") == before


def test_killed_while_an_editor_has_the_terminal_the_editor_keeps_it(tmux: Tmux) -> None:
    before = tmux.state("before")
    tmux.start()
    process = tmux.process()
    tmux.do("send-keys", "F4")
    tmux.until(lambda screen: "editing" in screen)
    os.kill(process, signal.SIGTERM)
    tmux.do("send-keys", "Enter")
    assert status(tmux) == 0
    assert (tmux.folder / "asked").exists()
    assert tmux.state("after") == before


def test_a_terminal_that_does_not_read_does_not_keep_the_app_alive(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, str(terminal_tmux.DRIVER), "plain", str(tmp_path)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        env={**os.environ, "TERM": "xterm-256color"},
    )
    os.close(theirs)
    try:
        seen = b""
        while b"up and running" not in seen:
            seen += os.read(ours, 4096)
        os.kill(process.pid, signal.SIGTERM)
        assert process.wait(20) in (0, -signal.SIGKILL)
    finally:
        process.kill()
        process.wait()
        os.close(ours)


@pytest.mark.parametrize("ignored", [False, True], ids=["hangup-heard", "hangup-ignored"])
def test_a_terminal_that_is_gone_ends_the_app_in_good_order(tmux: Tmux, ignored: bool) -> None:
    tmux.do("new-window", "-d")  # the server outlives the window
    tmux.start(before="trap '' HUP; " if ignored else "")
    process = tmux.process()
    tmux.do("kill-pane", "-t", ":0.0")
    wait_for(lambda: not alive(process))
    left = (tmux.folder / "left").read_text().split()
    assert (tmux.folder / "asked").exists()
    assert left[1] == "True" if ignored else left[0] in ("1", "None")
    assert float(left[2]) < 5, "it spun"
    assert "Traceback" not in (tmux.folder / "log").read_text()


def test_bytes_that_are_no_text_do_not_end_the_app(tmux: Tmux) -> None:
    tmux.start()
    tmux.do("send-keys", "-H", "ff", "fe", "c3", "28")
    tmux.type("still here")
    tmux.until(lambda screen: "still here" in screen)


def test_a_stderr_that_goes_elsewhere_gets_no_frames(tmux: Tmux) -> None:
    tmux.start(after="2> errors")
    tmux.do("send-keys", "C-q")
    assert status(tmux) == 0
    assert (tmux.folder / "errors").read_text() == ""


def test_where_nobody_could_continue_it_the_app_is_not_stopped(tmux: Tmux) -> None:
    tmux.start(before="exec ")  # no shell is left that knows jobs
    tmux.do("send-keys", "C-z")
    tmux.type("typed")
    tmux.until(lambda screen: "typed" in screen)


def test_a_signal_that_is_none_changes_nothing(tmux: Tmux) -> None:
    tmux.start()
    subprocess.run(["kill", "-0", str(tmux.process())], check=True)
    tmux.do("send-keys", "C-q")
    assert status(tmux) == 0
    assert not (tmux.folder / "asked").exists()
