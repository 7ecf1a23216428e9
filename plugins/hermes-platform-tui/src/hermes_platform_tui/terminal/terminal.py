"""The terminal around the picture: its clipboard, its window, notices, the mouse."""

import os
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from hermes_core.errors import UserError
from hermes_platform_tui.config import Config
from hermes_platform_tui.terminal.notify import Notifier
from hermes_platform_tui.terminal.title import Title

if TYPE_CHECKING:
    from hermes_platform_tui.terminal.safe import SafeApp

__all__ = ["Terminal"]


class Terminal:
    """What an app does in its terminal besides drawing. ``mouse_taken`` says who has the mouse."""

    def __init__(self, app: "SafeApp[int]", config: Config) -> None:
        self._app, self._notify = app, config.notify
        self.mouse_taken = config.mouse

    def copy(self, text: str) -> None:
        """Copy a text to where the person can paste it, and say how."""
        self._app.run_worker(self._copy(text), group="copy", exit_on_error=False)

    async def _copy(self, text: str) -> None:
        from hermes_platform_tui.terminal.clipboard import Clipboard

        copied = await Clipboard(self._write, os.environ).copy(text)
        severity: Literal["warning", "information"] = "warning" if copied.way == "none" else "information"
        self._app.notify(copied.note, timeout=4, severity=severity, markup=False)

    @cached_property
    def notifier(self) -> Notifier:
        """Who tells somebody that looks elsewhere."""
        return Notifier(self._write, os.environ, self._notify)

    @cached_property
    def window(self) -> Title:
        """The title of the terminal's window."""
        return Title(self._write, off=self._app.is_headless or self._app.is_web)

    def name_window(self, title: str) -> None:
        """Name the terminal's window after the conversation."""
        restorer = self._app.restorer
        if restorer is not None and self.window.end not in restorer.last_words:
            restorer.last_words.append(self.window.end)
        self.window.show(f"Hermes – {title}" if title else "Hermes")

    def take_mouse(self, *, on: bool) -> None:
        """Take the mouse, or leave it to the terminal, which then selects text itself."""
        driver: Any = self._app._driver
        if driver is None or self._app.is_headless:
            raise UserError("There is no mouse here.")
        (driver._enable_mouse_support if on else driver._disable_mouse_support)()
        self.mouse_taken = on

    def _write(self, data: str) -> None:
        """What is no part of the picture: a title, a notice, a copy."""
        if self._app._driver is not None and not self._app.is_headless:
            self._app._driver.write(data)
