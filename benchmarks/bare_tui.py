"""The baseline of ``tui.py``: the smallest Textual app, on the screen until it is killed."""

from textual.app import App, ComposeResult
from textual.widgets import Static


class Hello(App[None]):
    """One line."""

    def compose(self) -> ComposeResult:
        """The line."""
        yield Static("hello, bare screen")


if __name__ == "__main__":
    Hello().run()
