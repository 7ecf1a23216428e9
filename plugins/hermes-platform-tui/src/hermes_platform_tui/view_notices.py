"""What a conversation tells whoever holds it, and is told itself, within the screen."""

from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from hermes_core.types import Ended, Event
    from hermes_core.types import Message as Said
    from hermes_platform_tui.view import ChatView

__all__ = ["Arrived", "Changed", "Rested"]


class Changed(Message):
    """Something that the status bar, a tab or a dialog shows of a conversation is not as it was."""

    def __init__(self, view: "ChatView") -> None:
        super().__init__()
        self.view = view

    @property
    def control(self) -> "ChatView":
        """The conversation."""
        return self.view


class Arrived(Message):
    """The kernel has something to show."""

    def __init__(self, what: "Event | Said") -> None:
        super().__init__()
        self.what = what


class Rested(Message):
    """A turn came to its end."""

    def __init__(self, view: "ChatView", ended: "Ended", seconds: float) -> None:
        super().__init__()
        self.view, self.ended, self.seconds = view, ended, seconds
