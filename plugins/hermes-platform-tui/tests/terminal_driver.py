"""A small app inside a running loop, for driving a real terminal. Run by the tests in tmux: MODE FOLDER."""

import asyncio
import logging
import os
import subprocess
import sys
import time
from pathlib import Path

from textual.app import ComposeResult
from textual.binding import Binding
from textual.widgets import Input, Static

from hermes_platform_tui.terminal.restore import run_safely
from hermes_platform_tui.terminal.safe import SafeApp
from hermes_platform_tui.terminal.title import Title

MODE, FOLDER = sys.argv[1], Path(sys.argv[2])


class Small(SafeApp[None]):
    BINDINGS = [
        Binding("ctrl+z", "suspend_process", priority=True),
        Binding("ctrl+q", "quit", priority=True),
        Binding("f2", "crash", priority=True),
        Binding("f3", "spin", priority=True),
        Binding("f4", "edit", priority=True),
        Binding("f5", "work", priority=True),
    ]
    ticks = 0

    def compose(self) -> ComposeResult:
        yield Static("starting", id="words")
        yield Input()

    def on_mount(self) -> None:
        self.set_interval(0.02, self.tick)
        if self.restorer is not None:
            title = Title(self.write)
            self.restorer.last_words.append(title.end)
            title.show("small \x1b[31mapp")
            self.app_resume_signal.subscribe(self, lambda _: title.again())
        if MODE == "crash-at-start":
            raise RuntimeError("secret \x1b[31mthing\nsecond line")

    def write(self, text: str) -> None:
        if self._driver is not None:
            self._driver.write(text)

    def tick(self) -> None:
        self.ticks += 1
        self.query_one("#words", Static).update(f"up and running {self.ticks} " + "fill " * (self.ticks % 40))

    def on_unmount(self) -> None:
        if MODE == "slow":
            time.sleep(3600)

    def action_crash(self) -> None:
        local_secret = "do-not-show-me"
        raise RuntimeError(f"it broke {len(local_secret)}")

    def action_spin(self) -> None:
        (FOLDER / "spinning").write_text("")
        time.sleep(3600)

    def action_edit(self) -> None:
        with self.suspend():
            subprocess.run(["sh", "-c", "stty -g > edit-modes; echo editing; read line"], cwd=FOLDER, check=False)

    def action_work(self) -> None:
        self.run_worker(self.fail())

    async def fail(self) -> None:
        raise ValueError("the worker broke")


async def main() -> int:
    app = Small()
    try:
        fault = await run_safely(app, on_leave=lambda: (FOLDER / "asked").write_text("asked") and None, grace=3.0)
        if MODE == "crash-outside":
            raise LookupError("outside")
    finally:
        caught = app.restorer.caught if app.restorer else None
        lost = app.restorer.lost if app.restorer else None
        (FOLDER / "left").write_text(f"{caught} {lost} {os.times().user:.2f}")
    return 7 if fault else 0


if __name__ == "__main__":
    logging.basicConfig(filename=FOLDER / "log", level="INFO")
    sys.exit(asyncio.run(main()))
