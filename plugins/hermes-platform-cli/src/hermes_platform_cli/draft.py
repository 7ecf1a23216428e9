"""A line typed while a turn runs. Imports prompt_toolkit: only after the first prompt, which has done so."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from prompt_toolkit.input import Input, create_input
from prompt_toolkit.key_binding import KeyPress
from prompt_toolkit.keys import Keys

from hermes_platform_kit.clean import clean

__all__ = ["Draft"]


class Draft:
    """Takes keys without a prompt of its own; whoever owns the screen shows ``text``."""

    def __init__(self, source: Input | None, changed: Callable[[], None], interrupt: Callable[[], object]) -> None:
        self._source = source or create_input()
        self._changed, self._interrupt = changed, interrupt
        self.text = ""
        self._lines: asyncio.Queue[str] = asyncio.Queue()
        self._attached: ExitStack | None = None

    async def line(self) -> str:
        """The next line that was sent with Enter."""
        if self._lines.empty():
            self._attach()
        try:
            return await self._lines.get()
        finally:
            self._detach()

    def sent(self) -> str:
        """A line that was sent, but that nobody waited for any more; empty when there is none."""
        return "" if self._lines.empty() else self._lines.get_nowait()

    def take(self) -> str:
        """What is typed and not sent; it begins the next prompt."""
        text, self.text = self.text, ""
        return text

    @contextmanager
    def away(self) -> Iterator[None]:
        """Somebody else reads the keys for a while."""
        was = self._attached is not None
        self._detach()
        try:
            yield
        finally:
            if was:
                self._attach()

    def _attach(self) -> None:
        if self._attached is None:
            self._attached = ExitStack()
            self._attached.enter_context(self._source.attach(self._ready))

    def _detach(self) -> None:
        attached, self._attached = self._attached, None
        if attached is not None:
            attached.close()

    def _ready(self) -> None:
        for press in self._source.read_keys():
            self._press(press)
        self._changed()

    def _press(self, press: KeyPress) -> None:
        if press.key == Keys.ControlC:
            self._interrupt()
        elif press.key in (Keys.Enter, Keys.ControlJ):
            if text := self.text.strip():
                self._lines.put_nowait(text)
            self.text = ""
        elif press.key in (Keys.Backspace, Keys.ControlH):
            self.text = self.text[:-1]
        elif press.key == Keys.ControlU:
            self.text = ""
        elif press.key == Keys.ControlW:
            self.text = self.text.rstrip().rpartition(" ")[0]
        elif press.key == Keys.BracketedPaste:
            self.text += clean(press.data.replace("\r\n", "\n").replace("\r", "\n"))
        elif isinstance(press.key, str) and not isinstance(press.key, Keys):
            self.text += clean(press.data)
