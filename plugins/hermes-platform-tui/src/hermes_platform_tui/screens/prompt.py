"""One line of text from the person."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Input, Static

from hermes_platform_tui.screens.dialog import Dialog, Hint
from hermes_platform_tui.screens.line import Line
from hermes_platform_tui.screens.shown import clean, one_line

__all__ = ["PromptDialog"]


class PromptDialog(Dialog[str | None]):
    """Ends with what was typed, or None. ``check`` says what is wrong with it, or nothing."""

    AUTO_HEIGHT = True
    AUTO_FOCUS = "#line"
    HINTS: ClassVar[Sequence[Hint]] = (Hint("Enter", "take it", "take"), Hint("Esc", "leave it", "cancel"))
    DEFAULT_CSS = """
    PromptDialog {
        & > #box { max-width: 72; }
        & #text { height: auto; }
        &.-short #line { border: none; height: 1; padding: 0; }
    }
    """

    def __init__(
        self,
        title: str,
        *,
        text: str = "",
        value: str = "",
        placeholder: str = "",
        check: Callable[[str], str] = lambda typed: "",
        empty: bool = False,
    ) -> None:
        super().__init__()
        self._title, self._text, self._given, self._placeholder = title, text, value, placeholder
        self._check, self._empty = check, empty

    def body(self) -> ComposeResult:
        """What is asked for, then the line."""
        if self._text:
            yield Static(Content(clean(self._text)), id="text", markup=False)
        yield Line(one_line(self._given, 4000), placeholder=one_line(self._placeholder), id="line")

    def on_mount(self) -> None:
        """Show what it is about."""
        self.set_title(self._title)

    def action_take(self) -> None:
        """End with what was typed, unless something is wrong with it."""
        typed = self.query_one("#line", Input).value
        wrong = self._check(typed) or ("" if typed.strip() or self._empty else "Nothing was typed.")
        if wrong:
            self.notice(wrong, error=True)
        else:
            self.finish(typed)

    @on(Input.Submitted)
    def _submitted(self) -> None:
        self.action_take()
