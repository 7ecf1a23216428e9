"""The line in which one searches a conversation."""

from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from hermes_platform_tui.transcript import SearchState

__all__ = ["SearchBar"]


class SearchBar(Horizontal):
    """What is looked for, and how much of it there is. It is there while one searches."""

    DEFAULT_CSS = """
    SearchBar { height: 1; dock: top; display: none; background: $panel; }
    SearchBar.open { display: block; }
    SearchBar > #sought { width: 1fr; height: 1; border: none; padding: 0 1; background: $panel; }
    SearchBar > #found { width: auto; padding: 0 1; color: $text-muted; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "Close", show=False),
        Binding("enter,down", "step(1)", "Next", show=False, priority=True),
        Binding("up", "step(-1)", "Previous", show=False, priority=True),
    ]

    class Sought(Message):
        """Words are looked for; none: no more."""

        def __init__(self, words: str) -> None:
            super().__init__()
            self.words = words

    class Stepped(Message):
        """The next hit is wanted, or the one before."""

        def __init__(self, by: int) -> None:
            super().__init__()
            self.by = by

    class Closed(Message):
        """The search is over."""

    def open(self) -> None:
        """Begin to search. The field, and how many hits there are, are made the first time."""
        self.add_class("open")
        if not self.children:
            field = Input(placeholder="Search · ↓ ↑ step · Esc closes", id="sought")
            self.mount_all([field, Static("", id="found", markup=False)])
        self.query_one(Input).focus()

    def show(self, state: SearchState) -> None:
        """Say how many hits there are."""
        more = " …" if state.looking else ""
        said = f"{state.at} of {state.hits}{more}" if state.hits else f"nothing{more}" if state.words else ""
        self.query_one("#found", Static).update(Content(said))

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Sought(event.value))

    def action_step(self, by: int) -> None:
        """To the next hit, or the one before."""
        self.post_message(self.Stepped(by))

    def action_close(self) -> None:
        """Close it."""
        self.remove_class("open")
        with self.prevent(Input.Changed):
            self.query_one(Input).value = ""
        self.show(SearchState())
        self.post_message(self.Closed())
