"""The whole conversation on a real terminal: tmux."""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed"),
]

DRIVER = Path(__file__).with_name("cli_driver.py")
PATIENCE = 15.0
LEFT = re.compile(r"left-with-\d")


class Tmux:
    def __init__(self, folder: Path) -> None:
        self._socket = f"hermes-{uuid4().hex[:8]}"
        self.folder = folder
        environ = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "TMUX", "TMUX_PANE")}
        shell = "env -u NO_COLOR HISTFILE= PS1='ready$ ' LC_ALL=C.UTF-8 sh"
        command = [
            "tmux",
            "-L",
            self._socket,
            "-f",
            "/dev/null",
            "-u",
            "new-session",
            "-d",
            "-x",
            "80",
            "-y",
            "24",
            shell,
        ]
        subprocess.run(command, check=True, cwd=folder, env=environ)
        self.until(lambda screen: "ready$" in screen)

    def do(self, *words: str) -> str:
        command = ["tmux", "-L", self._socket, "-u", *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def type(self, text: str, *keys: str) -> None:
        if text:
            self.do("send-keys", "-l", text)
        if keys:
            self.do("send-keys", *keys)

    def screen(self) -> str:
        return self.do("capture-pane", "-p", "-S", "-200")

    def until(self, seen: Callable[[str], object]) -> str:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            screen = self.screen()
            if seen(screen):
                return screen
            time.sleep(0.05)
        raise AssertionError(f"not seen in {PATIENCE} s; the screen shows:\n{self.screen()}")

    def modes(self, name: str) -> str:
        self.type(f"stty -g > {name}; echo saved-{name}-$?", "Enter")
        self.until(lambda screen: f"saved-{name}-0" in screen)
        return (self.folder / name).read_text()

    def start(self) -> None:
        self.type(f"{sys.executable} {DRIVER} {self.folder / 'data'}; echo left-with-$?", "Enter")
        self.until(lambda screen: "❯" in screen)

    def process(self) -> int:
        found = self.do("list-panes", "-F", "#{pane_pid}").split()[0]
        return int(Path(f"/proc/{found}/task/{found}/children").read_text().split()[0])

    def end(self) -> None:
        subprocess.run(["tmux", "-L", self._socket, "kill-server"], check=False, capture_output=True)


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[Tmux]:
    terminal = Tmux(tmp_path)
    yield terminal
    terminal.end()


def test_a_question_is_answered_and_ctrl_d_leaves_the_terminal_as_it_was(tmux: Tmux) -> None:
    before = tmux.modes("before")
    tmux.start()
    tmux.type("hello", "Enter")
    screen = tmux.until(lambda screen: "3,400" in screen and screen.count("❯") == 2)
    assert "Two things are worth knowing before you rm anything:" in screen
    assert "日本語.txt   3,400" in screen
    assert "```" not in screen
    assert "Ctrl+C stops" not in screen
    tmux.do("send-keys", "C-d")
    tmux.until(lambda screen: "left-with-0" in screen)
    assert tmux.modes("after") == before


def test_ctrl_c_stops_a_turn_and_what_was_typed_ahead_waits(tmux: Tmux) -> None:
    tmux.start()
    tmux.type("slow", "Enter")
    tmux.until(lambda screen: "word5 " in screen)
    tmux.type("typed ahead")
    tmux.do("send-keys", "C-c")
    screen = tmux.until(lambda screen: "❯ typed ahead" in screen)
    assert "Stopped." in screen
    assert screen.count("typed ahead") == 1


def test_a_terminal_that_changes_its_size_shows_no_debris(tmux: Tmux) -> None:
    tmux.start()
    tmux.type("slow", "Enter")
    tmux.until(lambda screen: "word20 " in screen)
    tmux.do("resize-window", "-x", "46", "-y", "20")
    tmux.until(lambda screen: "word40 " in screen)
    tmux.do("resize-window", "-x", "100", "-y", "30")
    tmux.until(lambda screen: "word60 " in screen)
    tmux.do("send-keys", "C-c")
    screen = tmux.until(lambda screen: "Stopped." in screen)
    for number in range(60):
        assert screen.count(f"word{number} ") + screen.count(f"word{number}\n") == 1, f"word{number}:\n{screen}"
    assert "Ctrl+C stops" not in screen


@pytest.mark.parametrize("key", ["d", "4", "C-c"])
def test_a_call_can_be_refused_with_one_key(tmux: Tmux, key: str) -> None:
    tmux.start()
    tmux.type("ask", "Enter")
    screen = tmux.until(lambda screen: "Ctrl+C refuses" in screen)
    assert "rm -rf build\\u202e\\x1b[2J" in screen
    tmux.do("send-keys", key)
    tmux.until(lambda screen: "You said deny." in screen and "Refused." in screen)


def test_what_was_typed_before_a_question_does_not_answer_it(tmux: Tmux) -> None:
    tmux.start()
    tmux.type("tools\rask\rs")  # without waiting: the s was meant for the next message
    tmux.until(lambda screen: "Ctrl+C refuses" in screen)
    tmux.do("send-keys", "d")
    tmux.until(lambda screen: "You said deny." in screen and "❯ s" in screen)


@pytest.mark.parametrize("when", ["prompt", "turn", "question"])
@pytest.mark.parametrize("signal", ["TERM", "HUP", "QUIT"])
def test_a_killed_conversation_gives_the_terminal_back(tmux: Tmux, when: str, signal: str) -> None:
    tmux.type("ulimit -c 0", "Enter")
    before = tmux.modes("before")
    tmux.start()
    process = tmux.process()
    if when == "turn":
        tmux.type("slow", "Enter")
        tmux.until(lambda screen: "word3 " in screen)
    if when == "question":
        tmux.type("ask", "Enter")
        tmux.until(lambda screen: "Ctrl+C refuses" in screen)
    subprocess.run(["kill", f"-{signal}", str(process)], check=True)
    tmux.until(lambda screen: LEFT.search(screen))
    tmux.type("", "C-u")  # where the cursor is, as the terminal told somebody who was gone by then
    assert tmux.modes("after") == before
    assert tmux.do("display-message", "-p", "#{cursor_flag}").strip() == "1"
    assert tmux.do("display-message", "-p", "#{wrap_flag}").strip() == "1"


def test_two_ctrl_c_leave_a_turn_that_does_not_stop(tmux: Tmux) -> None:
    before = tmux.modes("before")
    tmux.start()
    tmux.type("stuck", "Enter")
    tmux.until(lambda screen: "never mind you" in screen)
    tmux.do("send-keys", "C-c")
    tmux.until(lambda screen: "stopping…" in screen)
    tmux.do("send-keys", "C-c")
    tmux.until(lambda screen: LEFT.search(screen))
    assert tmux.modes("after") == before


def test_ctrl_z_suspends_and_fg_comes_back(tmux: Tmux) -> None:
    tmux.type("exec bash --norc", "Enter")
    tmux.type("PS1='ready$ '", "Enter")
    before = tmux.modes("before")
    tmux.start()
    tmux.type("slow", "Enter")
    tmux.until(lambda screen: "word5 " in screen)
    tmux.do("send-keys", "C-z")
    tmux.until(lambda screen: "Stopped" in screen)
    assert tmux.modes("stopped") == before
    tmux.type("fg", "Enter")
    tmux.until(lambda screen: "word30 " in screen)
    tmux.do("send-keys", "C-c")
    tmux.until(lambda screen: "Stopped." in screen)
    tmux.type("/exit", "Enter")
    tmux.until(lambda screen: screen.rstrip().endswith("ready$"))
    assert tmux.modes("after") == before
