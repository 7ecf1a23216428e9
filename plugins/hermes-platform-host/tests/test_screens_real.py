"""One session on two real terminals, the classic one and the full screen, through one host."""

import asyncio
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import pytest

pytestmark = [
    pytest.mark.real,
    pytest.mark.timeout(240),
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed"),
]
PATIENCE = 30.0


class Screens:
    """Terminals of 100 x 30 with a shell each, as a person has them."""

    def __init__(self, house: Any) -> None:
        self._socket = f"hermes-{uuid4().hex[:8]}"
        kept = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "TMUX", "TMUX_PANE")}
        self._env, self._house = {**kept, **house.env}, house
        for name in [k for k in self._env if k.startswith("HERMES_") and k != "HERMES_HOME"]:
            del self._env[name]
        shell = "env -u NO_COLOR HISTFILE= PS1='ready$ ' LC_ALL=C.UTF-8 bash --norc"
        command = ["tmux", "-L", self._socket, "-f", "/dev/null", "-u", "new-session", "-d", "-x", "100", "-y", "30"]
        subprocess.run([*command, shell], check=True, cwd=house.work, env=self._env)
        self.do("new-window", "-c", str(house.work), shell)

    def do(self, *words: str) -> str:
        command = ["tmux", "-L", self._socket, "-u", *words]
        return subprocess.run(command, check=True, capture_output=True, text=True, env=self._env).stdout

    def type(self, window: int, text: str, *keys: str) -> None:
        """Type text, then press keys."""
        if text:
            self.do("send-keys", "-t", f":{window}", "-l", text)
        if keys:
            self.do("send-keys", "-t", f":{window}", *keys)

    def screen(self, window: int) -> str:
        """What a terminal shows now."""
        return self.do("capture-pane", "-p", "-t", f":{window}")

    async def until(self, window: int, seen: Callable[[str], object]) -> str:
        """Wait until a terminal shows something."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if seen(shown := self.screen(window)):
                return shown
            await asyncio.sleep(0.05)
        raise AssertionError(f"not seen in {PATIENCE} s; the screen shows:\n{self.screen(window)}")

    async def start(self, window: int, *words: str) -> None:
        """Start the command in one."""
        await self.until(window, lambda shown: "ready$" in shown)
        self.type(window, f"{sys.executable} -m hermes_core {' '.join(words)}; echo left-with-$?", "Enter")

    def end(self) -> None:
        subprocess.run(["tmux", "-L", self._socket, "kill-server"], check=False, capture_output=True)


@pytest.fixture
def screens(house: Any) -> Iterator[Screens]:
    house.configure("policy: {mode: ask}\nbackends: {local: {wall: none}}\n")
    for name in [name for name in house.env if name.startswith("HERMES_") and name != "HERMES_HOME"]:
        del house.env[name]
    house.env.pop("NO_COLOR", None)
    made = Screens(house)
    yield made
    made.end()


async def test_one_session_on_two_screens(house: Any, screens: Screens) -> None:
    await house.open()
    await screens.start(0, "--cli")
    shown = await screens.until(0, lambda shown: "❯" in shown)
    assert "works by itself" not in shown
    screens.type(0, "when?", "Enter")
    await screens.until(0, lambda shown: "Nine o'clock." in shown)
    await screens.start(1, "--tui", "-c")
    await screens.until(1, lambda shown: "Nine o'clock." in shown and "Ask anything" in shown)

    house.model.script = [house.calls("sudo true"), house.says("It is gone.")]
    screens.type(0, "do it", "Enter")
    for window in (0, 1):
        await screens.until(window, lambda shown: "May this run?" in shown and "$ sudo true" in shown)
    await asyncio.sleep(1.0)  # keys that were typed before a dialog was seen do not answer it
    screens.type(1, "d")  # the other screen's question goes away
    for window in (0, 1):
        await screens.until(window, lambda shown: "It is gone." in shown)
    assert "A key chooses" not in screens.screen(0).rpartition("It is gone.")[2]
    assert "› do it" in screens.screen(1)

    heard, go = asyncio.Event(), asyncio.Event()

    async def slow(writer: asyncio.StreamWriter) -> None:
        writer.write(house.begun("The train leaves "))
        await writer.drain()
        heard.set()
        await go.wait()
        writer.write(house.ends("at nine."))
        await writer.drain()

    house.model.script = [slow, house.says("At ten."), house.says("To Oslo.")]
    screens.type(1, "and the train?", "Enter")
    await asyncio.wait_for(heard.wait(), 30)
    await screens.until(0, lambda shown: "› and the train?" in shown and "The train leaves" in shown)
    screens.type(0, "", "C-c")
    for window in (0, 1):
        await screens.until(window, lambda shown: "Stopped." in shown or "interrupted" in shown)
    go.set()
    screens.type(1, "/goal", "Enter")  # a plugin's command, which the host runs
    await screens.until(1, lambda shown: "There is no goal." in shown)

    screens.type(1, "/quit", "Enter")
    await screens.until(1, lambda shown: "left-with-0" in shown)
    screens.type(0, "still there?", "Enter")
    await screens.until(0, lambda shown: "At ten." in shown)
    house.host.kill()
    await screens.until(0, lambda shown: "The host ended. Nothing that was stored is lost." in shown)
    await screens.until(0, lambda shown: "left-with-1" in shown)


async def test_a_window_that_is_closed_ends_nothing(house: Any, screens: Screens) -> None:
    await house.open()
    heard, go = asyncio.Event(), asyncio.Event()

    async def slow(writer: asyncio.StreamWriter) -> None:
        heard.set()
        await go.wait()
        writer.write(house.says("At nine."))
        await writer.drain()

    house.model.script = [slow, house.says("To Oslo.")]
    await screens.start(1, "--tui")
    await screens.until(1, lambda shown: "Ask anything" in shown)
    screens.type(1, "when?", "Enter")
    await asyncio.wait_for(heard.wait(), 30)
    screens.type(1, "and where to?", "Enter")
    await screens.until(1, lambda shown: "Queued" in shown)
    screens.do("kill-window", "-t", ":1")
    await screens.start(0, "--cli", "-c")
    await screens.until(0, lambda shown: "Ctrl+C stops" in shown)
    go.set()
    await screens.until(0, lambda shown: "At nine." in shown)
    await screens.until(0, lambda shown: "To Oslo." in shown)
    assert house.asked()[-1] == "and where to?"
