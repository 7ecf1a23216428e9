"""What all widgets of a conversation share."""

from collections.abc import Iterable
from datetime import datetime
from typing import ClassVar, Generic, TypeVar

from textual import events
from textual.containers import VerticalGroup
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from hermes_core.types import Blob
from hermes_platform_tui.markdown.body import MarkdownBody
from hermes_platform_tui.transcript.entries import Entry
from hermes_platform_tui.transcript.frame import Frame
from hermes_platform_tui.transcript.rows import (
    MUTED,
    Drawn,
    quiet_size,
)
from hermes_platform_tui.transcript.wording import stamp

__all__ = ["Block", "Body", "CodeBlock"]

CodeBlock = tuple[str, str]  # language, text
E = TypeVar("E", bound=Entry)


class Body(MarkdownBody):
    """A text in a block."""

    virtual_size = quiet_size()

    def set_text(self, text: str) -> None:
        super().set_text(text)
        self.refresh(layout=True)  # its height may be asked for, and kept, before it comes to say that it has changed

    def finish(self) -> None:
        super().finish()
        self.refresh(layout=True)


class Block(VerticalGroup, Generic[E]):
    """Shows one entry."""

    virtual_size = quiet_size()

    class Picked(Message):
        """Somebody pressed the mouse on it."""

        def __init__(self, entry: Entry) -> None:
            super().__init__()
            self.entry = entry

    DEFAULT_CSS = """
    Block { width: 1fr; max-width: 113; height: auto; margin: 1 0 0 0; padding: 0 1; border-left: blank; }
    Block.-tight { margin: 0; }
    Block > MarkdownBody { width: 1fr; height: auto; }
    Block > .stamp { dock: right; width: 6; height: 1; text-align: right; }
    Block.-person { border-left: outer $secondary; }
    Block.-failure { border-left: outer $error; }
    Block.-pending > MarkdownBody { color: $foreground-muted; }
    Block.-thought > MarkdownBody { color: $foreground-muted; text-style: italic; padding-left: 2; }
    Block.-house { border-left: outer $foreground 25%; }
    Block.-current { border-left: thick $accent; background: $foreground 5%; }
    """

    tight: ClassVar[bool] = False

    def __init__(self, entry: E, frame: Frame) -> None:
        super().__init__()
        self.entry = entry
        self.add_class(self.kind())
        self.frame = frame
        self.current = False
        self._pictures: list[Blob] = []

    def kind(self) -> str:
        """Its class for style sheets."""
        return "-entry"

    @property
    def folded(self) -> bool:
        """Whether it shows little of what it has."""
        section = self.entry.section
        if self.entry.unfolded is None and section:
            return self.frame.folds[section] != "expanded"
        return not self.entry.unfolded

    def toggle(self) -> bool:
        """Fold or unfold; False when there is nothing to fold."""
        if not self.entry.foldable:
            return False
        self.entry.unfolded = self.folded
        self.sync()
        return True

    def sync(self) -> None:
        """Show the entry as it is now."""

    def tick(self) -> None:
        """Time has passed."""

    def choose(self, current: bool) -> None:
        """Whether it is the one that keys are about."""
        if current != self.current:
            self.current = current
            self.set_class(current, "-current")
            self.sync()

    def code_blocks(self) -> list[CodeBlock]:
        """What can be copied apart."""
        return []

    def links(self) -> list[tuple[str, str]]:
        """The links in it: what is written, and where they lead."""
        return []

    def find(self, words: str) -> list[int]:
        """The rows below its top that hold the words."""
        return []

    def highlight(self, words: str, current: int | None) -> None:
        """Mark the words in it."""

    def stamps(self) -> Iterable[Widget]:
        """The time, when it is wanted and known."""
        if self.frame.config.timestamps and self.entry.at:
            at: datetime = self.entry.at
            yield Drawn(lambda width: [Content.styled(stamp(at), MUTED)], classes="stamp")

    def show_pictures(self, blobs: Iterable[Blob]) -> None:
        """Show those that can be shown, once."""
        if self.frame.picture is None:
            return
        for blob in blobs:
            if not any(blob is shown for shown in self._pictures):
                self._pictures.append(blob)
                if widget := self.frame.picture(blob):
                    self.mount(widget)

    def on_click(self, event: events.Click) -> None:
        """A press that selects no text is about the whole."""
        if not self.screen.selections:
            event.stop()
            self.post_message(self.Picked(self.entry))
