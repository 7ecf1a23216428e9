"""A real terminal for tests: tmux, with a shell in it that outlives what runs there."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

PATIENCE = 20.0
DRIVER = Path(__file__).with_name("terminal_driver.py")
FLAGS = ("alternate_on", "cursor_flag", "wrap_flag", "mouse_any_flag", "mouse_sgr_flag", "keypad_flag", "insert_flag")


class Tmux:
    def __init__(self, folder: Path, size: tuple[int, int] = (80, 24)) -> None:
        self.socket = f"hermes-{uuid4().hex[:8]}"
        self.folder = folder
        environ = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "TMUX", "TMUX_PANE")}
        shell = "env -u NO_COLOR HISTFILE= PS1='ready$ ' LC_ALL=C.UTF-8 bash --norc"
        command = ["tmux", "-L", self.socket, "-f", "/dev/null", "-u", "new-session", "-d", "-x", str(size[0])]
        subprocess.run([*command, "-y", str(size[1]), shell], check=True, cwd=folder, env=environ)
        self.until(lambda screen: "ready$" in screen)
        self.type("ulimit -c 0", "Enter")

    def do(self, *words: str) -> str:
        command = ["tmux", "-L", self.socket, "-u", *words]
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

    def state(self, name: str) -> list[str]:
        """The modes of the line and of the screen, as the shell that waits has them."""
        self.type(f"stty -g > {self.folder / name}; echo saved-{name}-$?", "Enter")
        self.until(lambda screen: f"saved-{name}-0" in screen)
        flags = self.do("display-message", "-p", " ".join(f"{flag}=#{{{flag}}}" for flag in FLAGS)).strip()
        return [(self.folder / name).read_text().strip(), flags, self.title()]

    def title(self) -> str:
        return self.do("display-message", "-p", "#{pane_title}").strip()

    def start(self, mode: str = "plain", *, before: str = "", after: str = "", seen: str = "up and running") -> None:
        self.type(f"{before}{sys.executable} {DRIVER} {mode} {self.folder} {after}; echo left-with-$?", "Enter")
        self.until(lambda screen: seen in screen)

    def process(self) -> int:
        shell = self.do("list-panes", "-F", "#{pane_pid}").split()[0]
        return int(Path(f"/proc/{shell}/task/{shell}/children").read_text().split()[-1])

    def end(self) -> None:
        subprocess.run(["tmux", "-L", self.socket, "kill-server"], check=False, capture_output=True)


def wait_for(seen: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not seen():
        if time.monotonic() > end:
            raise AssertionError("it did not come about")
        time.sleep(0.05)
