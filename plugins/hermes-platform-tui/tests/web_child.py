"""A small program for a browser, started by the tests of `hermes web`: FOLDER."""

import asyncio
import io
import os
import sys
from pathlib import Path

from textual import events
from textual.app import ComposeResult
from textual.widgets import Static

from hermes_platform_tui.terminal.restore import run_safely
from hermes_platform_tui.terminal.safe import SafeApp

FOLDER = Path(sys.argv[1])


class Child(SafeApp[None]):
    def compose(self) -> ComposeResult:
        yield Static(f"hello from {os.getpid()} with {'a' if 'HERMES_WEB_TOKEN' in os.environ else 'no'} token")
        yield Static("", id="said")

    def on_mount(self) -> None:
        (FOLDER / f"pid-{os.getpid()}").write_text("")

    def on_resize(self, event: events.Resize) -> None:
        self.query_one("#said", Static).update(f"size {event.size.width}x{event.size.height}")

    def on_key(self, event: events.Key) -> None:
        match event.key:
            case "o":
                self.open_url("javascript:alert(1)")
                self.open_url("https://example.org/")
            case "d":
                self.deliver_binary(
                    io.BytesIO(b"<script>alert(1)</script>"),
                    save_filename='a"b.html',
                    open_method="browser",
                    mime_type="text/html",
                )
            case "x":
                self.exit()
            case "c":
                raise RuntimeError("no \x1b[31msuch model")


if __name__ == "__main__":
    sys.exit(7 if asyncio.run(run_safely(Child())) else 0)
