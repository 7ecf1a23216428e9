"""The baseline of ``tui.py``: the smallest Textual app, on the screen until a key is pressed."""

from textual.app import App, ComposeResult
from textual.widgets import Static


class Hello(App[None]):
    """One line."""

    BINDINGS = [("q", "quit", "Quit")]

    def compose(self) -> ComposeResult:
        """The line."""
        yield Static("hello, bare screen")


if __name__ == "__main__":
    Hello().run()
