"""Where a person types in a dialog. What is pasted may come from anywhere."""

from textual import events
from textual.widgets import Input, TextArea

from hermes_platform_tui.screens.shown import clean, one_line

__all__ = ["Area", "Line"]

_LONGEST = 4000  # characters of a paste; nobody means more of it in one line


class Line(Input):
    """One line. A paste of several becomes one; Textual alone would show its escape sequences to the terminal."""

    def on_paste(self, event: events.Paste) -> None:
        """Make it safe before it is put in."""
        event.text = one_line(event.text, _LONGEST)


class Area(TextArea):
    """Several lines, without escape sequences from a paste."""

    def on_paste(self, event: events.Paste) -> None:
        """Make it safe before it is put in."""
        event.text = clean(event.text)
