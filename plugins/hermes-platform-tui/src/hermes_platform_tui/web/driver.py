"""The end of the line to a browser, inside the process of one visitor."""

import contextlib
import os
from typing import Any

from textual.drivers.web_driver import WebDriver

__all__ = ["PageDriver"]


class PageDriver(WebDriver):
    """Textual's driver for a browser. It ends the app when the server does: no conversation lives on unseen."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._write = self._send  # type: ignore[assignment]
        self._gone = False

    def run_input_thread(self) -> None:
        """Read what the server passes on, until it ends."""
        try:
            super().run_input_thread()
        finally:
            if not self.exit_event.is_set():
                self._lose()

    def _send(self, data: bytes) -> int:
        view = memoryview(data)
        try:
            while view and not self._gone:
                view = view[os.write(self.fileno, view) :]
        except OSError:
            self._lose()
        return len(data)

    def _lose(self) -> None:
        self._gone = True
        with contextlib.suppress(RuntimeError):  # the loop is closed already
            self._loop.call_soon_threadsafe(self._app.exit)
