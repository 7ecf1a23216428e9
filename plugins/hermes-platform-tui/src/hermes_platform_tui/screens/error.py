"""What happened, and what to do next."""

from collections.abc import Sequence
from typing import ClassVar, Literal

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from hermes_platform_tui.screens.dialog import Dialog, Hint
from hermes_platform_tui.screens.sheet import Sheet, Writing
from hermes_platform_tui.screens.shown import clean

__all__ = ["ErrorScreen"]


class ErrorScreen(Dialog[Literal["settings", "quit"] | None]):
    """Says what happened, what to do next, and the details. Ends with what the person wants now."""

    TITLE_TEXT = "Something went wrong"
    AUTO_FOCUS = ""
    AUTO_HEIGHT = True
    FLEXIBLE = "#said"
    HINTS: ClassVar[Sequence[Hint]] = (
        Hint("Esc", "go on", "cancel"),
        Hint("c", "copy", "copy"),
        Hint("s", "settings", "end('settings')"),
        Hint("q", "quit", "end('quit')"),
        Hint("↑↓", "read on"),
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "cancel", show=False),
        Binding("c", "copy", show=False),
        Binding("s", "end('settings')", show=False),
        Binding("q", "end('quit')", show=False),
        Binding("up", "scroll(-1)", show=False),
        Binding("down", "scroll(1)", show=False),
        Binding("pageup", "scroll(-8)", show=False),
        Binding("pagedown", "scroll(8)", show=False),
    ]
    DEFAULT_CSS = """
    ErrorScreen {
        & > #box { border: round $error; border-title-color: $text-error; }
        &.-narrow > #box, &.-short > #box { border: none; border-top: solid $error; }
        & #said { height: auto; }
    }
    """

    def __init__(self, text: str, hint: str, details: str = "") -> None:
        super().__init__()
        self._text, self._advice, self._details = clean(text), clean(hint), clean(details)

    def body(self) -> ComposeResult:
        """What happened, what to do next, the details."""
        pieces = [Writing(self._text, "bold", bare=True)]
        if self._advice:
            pieces += [Writing("", bare=True), Writing("What to do now", "$text-primary bold", bare=True)]
            pieces.append(Writing(self._advice))
        if self._details:
            pieces += [Writing("", bare=True), Writing("Details", "$text-muted bold", bare=True)]
            pieces.append(Writing(self._details, "$text-muted"))
        yield Sheet(pieces, ident="said")

    def action_copy(self) -> None:
        """Put all of it on the clipboard."""
        self.app.copy_to_clipboard("\n\n".join(filter(None, (self._text, self._advice, self._details))))
        self.notice("Copied.")

    def action_end(self, what: Literal["settings", "quit"]) -> None:
        """Close, and say what the person wants now."""
        self.finish(what)

    def action_scroll(self, lines: int) -> None:
        """Read on, or back."""
        self.query_one(Sheet).scroll_relative(y=lines, animate=False)
