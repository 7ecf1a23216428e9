"""The box at the bottom in which a person writes."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.dom import DOMNode
from textual.message import Message
from textual.widgets import Static, TextArea

from hermes_platform_tui.composer.attachments import Attachments, Refused
from hermes_platform_tui.composer.chips import ROOM, Chips
from hermes_platform_tui.composer.clean import clean_slowly, plain
from hermes_platform_tui.composer.field import Field
from hermes_platform_tui.composer.history import History
from hermes_platform_tui.composer.menu import Menu
from hermes_platform_tui.composer.offers import Offers
from hermes_platform_tui.composer.recall import Recall

if TYPE_CHECKING:
    from hermes_core.types import Blob, Choice

__all__ = ["Composer"]


class Composer(Vertical):
    """Takes text, pastes, pictures; completes; remembers. What it says is in its messages."""

    DEFAULT_CSS = """
    Composer {
        height: auto;
        width: 1fr;
        & > .composer--box {
            height: auto;
            border: round $border-blurred;
            padding: 0 1;
            border-title-color: $text-muted;
            border-subtitle-color: $text-muted;
        }
        & .composer--symbol { width: 2; height: 1; color: $text-muted; }
        &:focus-within > .composer--box { border: round $primary; }
        &:focus-within .composer--symbol { color: $primary; text-style: bold; }
        &.-locked > .composer--box { border-title-color: $warning; }
        &.-searching > .composer--box { border-title-color: $accent; border-title-style: bold; }
        &.-locked .composer--symbol { color: $text-muted; text-style: none; }
    }
    """

    class Said(Message):
        """What a composer tells. ``control`` is that composer."""

        @property
        def control(self) -> DOMNode | None:
            return self._sender if isinstance(self._sender, DOMNode) else None

    class Submitted(Said):
        """A message is sent. ``text`` is whole: what was pasted stands where its chip stood."""

        def __init__(self, text: str, attachments: Sequence["Blob"]) -> None:
            super().__init__()
            self.text, self.attachments = text, attachments

    class Changed(Said):
        """What is written is another text now."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(
        self,
        *,
        complete: Callable[[str, int], Awaitable[Sequence["Choice"]]],
        history: Path | None,
        paste_lines: int,
        paste_characters: int,
        placeholder: str = "",
        id: str | None = None,  # noqa: A002 - as every widget of Textual has it
    ) -> None:
        super().__init__(id=id)
        self._chips = Chips(paste_lines, paste_characters)
        self._history = History(history, self.tell)
        self._field = Field(self, self._chips, placeholder)
        self._symbol = Static(Content("❯"), classes="composer--symbol")
        self._box = Horizontal(self._symbol, self._field, classes="composer--box")
        self._menu = Menu()
        self._offers = Offers(self, self._field, self._menu, self._chips, complete)
        self._recall = Recall(self, self._field, self._menu, self._history)
        self._attachments = Attachments(self, self._field, self._chips)
        self._locked, self._hint, self._frame = "", "", ("", "")
        self._after_x = False

    def compose(self) -> ComposeResult:
        """The box. The menu, which lies over everything and takes no room, comes after the first frame."""
        yield self._box

    def on_mount(self) -> None:
        """Have what is not seen yet come after what is."""
        self.call_after_refresh(self.mount, self._menu, before=self._box)

    # What others see and do

    @property
    def text(self) -> str:
        """Everything that would be sent."""
        return self._chips.expand(self._field.text)

    @property
    def attachments(self) -> Sequence["Blob"]:
        """Pictures and files, in the order in which they stand in the text."""
        return self._chips.attachments(self._field.text)

    @property
    def locked(self) -> str:
        """Why nothing can be sent; empty when it can. Writing goes on."""
        return self._locked

    @locked.setter
    def locked(self, reason: str) -> None:
        self._locked = plain(reason or "")
        self.set_class(bool(reason), "-locked")
        self.draw_frame()

    @property
    def hint(self) -> str:
        """A line at the lower edge."""
        return self._hint

    @hint.setter
    def hint(self, hint: str) -> None:
        self._hint = plain(hint or "")
        self.draw_frame()

    @property
    def editing(self) -> bool:
        """Whether an editor has the terminal: Ctrl+C is the editor's then."""
        return self._attachments.editing

    @property
    def room(self) -> tuple[int, int]:
        """How many rows of the screen are free above and below."""
        region = self.region
        return region.y, self.screen.size.height - region.bottom

    def insert(self, text: str) -> None:
        """Put text where the cursor is."""
        self._field.put(self.fold(text))

    def set_text(self, text: str) -> None:
        """Put a text in place of everything; can be undone."""
        self.put_document(self.fold(text))

    def put_document(self, document: str) -> None:
        """The same for a text whose chips are marks already."""
        self._offers.dismiss()
        self._field.swap(document)

    def clear(self) -> None:
        """Forget what is written, chips and all."""
        self._recall.close()
        self._offers.close()
        self._field.forget()
        self._chips.clear()

    def attach(self, blob: "Blob") -> None:
        """Put a picture or a file where the cursor is, as a chip."""
        try:
            mark = self._attachments.mark(blob)
        except Refused as refused:
            self.tell(str(refused))
        else:
            self._field.put(mark)

    async def take_clipboard(self) -> None:
        """Attach the picture that lies in the clipboard, or put in its text."""
        await self._attachments.take_clipboard()

    def focus_input(self) -> None:
        """Send keys here."""
        self._field.focus()

    async def offer_key(self, event: events.Key) -> bool:
        """Take a key that reached nobody, because nothing or something closed had the focus; whether it was text."""
        if not event.is_printable or event.character is None:
            return False
        self.focus_input()
        if not await self.take(event):
            self._field.put(plain(event.character))
        return True

    def fold(self, text: str) -> str:
        """What the document holds for a text that was not pasted."""
        return self._chips.fold(plain(text), *ROOM)

    def tell(self, text: str) -> None:
        """Say something that went wrong, for a while."""
        self.notify(plain(text), severity="warning", markup=False)

    def draw_frame(self) -> None:
        """Say in the frame what is going on."""
        title = self._recall.title or self._locked
        hint = self._hint or ("Ctrl+O: look at it" if self._attachments.chip_here() else "")
        if (title, hint) != self._frame:
            self._frame = title, hint
            self._box.border_title = Content(title) if title else None
            self._box.border_subtitle = Content(hint) if hint else None

    # What the field asks

    async def take(self, event: events.Key) -> bool:
        """Whether the key was for a menu or for the composer itself."""
        key = event.key
        if self._recall.is_open:
            return self._recall.take(event)
        after_x, self._after_x = self._after_x, False
        if key == "ctrl+x":
            return self._cut()
        if key == "ctrl+g" or (after_x and key == "ctrl+e"):
            self.run_worker(self._attachments.edit(), group="editor", exclusive=True)
        elif self._offers.take(key):
            pass
        elif key == "enter":
            return self._submit()
        elif key == "ctrl+r":
            self._offers.close()
            self._recall.open()
        elif key in ("ctrl+v", "alt+v", "super+v"):
            self.run_worker(self._attachments.take_clipboard(), group="clipboard", exclusive=True)
        elif key == "ctrl+o":
            return self._attachments.view()
        elif key == "shift+\r":  # xterm's own way to say Shift+Enter
            self._field.action_newline()
        else:
            return False
        return True

    def walk(self, steps: int) -> bool:
        """Up at the first row, Down at the last."""
        self._offers.dismiss()
        return self._recall.walk(steps)

    async def paste(self, text: str) -> None:
        """A paste of the terminal's: a picture that was dropped, a chip, or text."""
        text = await clean_slowly(text)
        if self._recall.is_open:
            self._recall.add(text.partition("\n")[0])
        elif text and not await self._attachments.take_dropped(text):
            self._field.put(self._chips.fold(text))

    def _cut(self) -> bool:
        if self._field.selection.is_empty:
            self._after_x = True
        else:
            self._field.action_cut()
        return True

    def _submit(self) -> bool:
        text, attachments = self.text, self.attachments
        if not text.strip():
            return False
        if self._locked:
            self.app.bell()
            return True
        self._history.add(text)
        self.clear()
        self.post_message(self.Submitted(text, attachments).set_sender(self))
        return True

    @on(TextArea.Changed)
    def _changed(self, event: TextArea.Changed) -> None:
        event.stop()
        self._offers.look()
        self.draw_frame()
        self.post_message(self.Changed(self.text).set_sender(self))

    @on(TextArea.SelectionChanged)
    def _moved(self, event: TextArea.SelectionChanged) -> None:
        event.stop()
        self._offers.check()
        self.draw_frame()

    @on(Menu.Clicked)
    def _clicked(self, event: Menu.Clicked) -> None:
        event.stop()
        if self._recall.is_open:
            self._recall.accept()
        else:
            self._offers.accept()
        self.focus_input()
