"""The text itself: a text area in which a chip is one thing, and whose keys act in the order in which they come."""

from typing import ClassVar, Protocol, cast

from rich.text import Text
from textual import events
from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.document._document import EditResult, Location, Selection
from textual.document._edit import Edit
from textual.geometry import Offset, Size
from textual.keys import Keys
from textual.screen import Screen
from textual.widgets import TextArea

from hermes_platform_tui.composer.chips import START, Chips, letter_at, mark_at, marks

__all__ = ["Field", "Owner"]

# What terminals without the newer protocol say for Alt+Enter; Textual would take it for Enter and so send.
cast("dict[str, object]", ANSI_SEQUENCES_KEYS).update({"\x1b\r": (Keys.ControlJ,), "\x1b\n": (Keys.ControlJ,)})


class Owner(Protocol):
    """What the field asks of the composer. Plain calls: a message could be overtaken by the next key."""

    async def take(self, event: events.Key) -> bool:
        """Whether the key was meant for an open menu or for the composer, and is done with."""

    async def paste(self, text: str) -> None:
        """Text that the terminal pasted."""

    def walk(self, steps: int) -> bool:
        """Go ``steps`` entries back in history; negative: forth. Whether there was one."""


class Field(TextArea):
    """Where the text is written. Its document holds marks for chips; see :mod:`.chips`."""

    DEFAULT_CSS = """
    Field, Field:focus {
        border: none;
        padding: 0;
        height: auto;
        min-height: 1;
        background: transparent;
        scrollbar-size-vertical: 1;
        & .field--chip { color: $text-primary; background: $primary-muted; text-style: bold; }
        & .text-area--placeholder { color: $text-muted; }
    }
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {"field--chip"}

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("shift+enter,alt+enter,ctrl+j,ctrl+enter", "newline", "New line", show=False),
        Binding("ctrl+a", "line_start", "Start of line", show=False),
        Binding("ctrl+e", "line_end", "End of line", show=False),
        Binding("home", "cursor_line_start", "Start of row", show=False),
        Binding("end", "cursor_line_end", "End of row", show=False),
        Binding("backspace,ctrl+h,shift+backspace", "delete_left", "Delete before", show=False),
        Binding("ctrl+d,delete", "delete_right", "Delete after", show=False),
        Binding("ctrl+w", "kill_word", "Cut word before", show=False),
        Binding("ctrl+backspace", "delete_word_left", "Delete word before", show=False),
        Binding("alt+d,alt+delete,ctrl+delete", "delete_word_right", "Delete word after", show=False),
        Binding("alt+b", "cursor_word_left", "Word back", show=False),
        Binding("alt+f", "cursor_word_right", "Word forth", show=False),
        Binding("ctrl+u", "kill_to_start", "Cut to start of line", show=False),
        Binding("ctrl+k", "kill_to_end", "Cut to end of line", show=False),
        Binding("ctrl+y", "yank", "Put back what was cut", show=False),
        Binding("ctrl+underscore,alt+z,super+z", "undo", "Undo", show=False),
        Binding("alt+shift+z,ctrl+shift+z,super+shift+z", "redo", "Redo", show=False),
        Binding("ctrl+z", "leave", "", show=False),  # the terminal's: it stops the program
        Binding("ctrl+x", "leave", "", show=False),  # begins Ctrl+X Ctrl+E
        Binding("ctrl+v,super+v,alt+v", "leave", "", show=False),  # the composer's: there may be a picture
    ]

    def __init__(self, owner: Owner, chips: Chips, placeholder: str) -> None:
        super().__init__(highlight_cursor_line=False, placeholder=Content(placeholder))
        self.match_cursor_bracket = False
        self._whole_placeholder = Content(placeholder)
        self._owner, self._chips = owner, chips
        self._killed = ""
        self._tallest = 0

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """As many rows as the text has; with the frame a third of the screen at most. CSS cannot say that inside a box
        that is as high as its content."""
        return min(super().get_content_height(container, viewport, width), max(2, viewport.height // 3 - 1))

    def on_mount(self) -> None:
        """Watch the height of the screen: a layout that only depends on it is not done again by itself."""
        self.screen.screen_layout_refresh_signal.subscribe(self, self._fit)

    def _fit(self, _: Screen[object]) -> None:
        if self._tallest != self.app.size.height:
            self._tallest = self.app.size.height
            self.refresh(layout=True)

    def on_resize(self) -> None:
        """Keep the placeholder on one row, and the cursor in sight."""
        self.placeholder = self._whole_placeholder.truncate(max(1, self.size.width - 1), ellipsis=True)
        self.call_after_refresh(self.scroll_cursor_visible)

    async def _on_key(self, event: events.Key) -> None:
        # Textual runs bindings in the app's task: there a key that moves could act after a letter typed behind it.
        if await self._owner.take(event):
            event.stop()
            event.prevent_default()
            return
        for binding in self._bindings.key_to_bindings.get(event.key, ()):
            if await self.app.run_action(binding.action, self):
                event.stop()
                event.prevent_default()
                return
        if event.key == "enter" or (
            event.is_printable and "+" in event.key and event.key.startswith(("ctrl", "super"))
        ):
            event.prevent_default()

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        await self._owner.paste(event.text)

    # A chip is one thing, and so is a letter with its accents

    def clamp_visitable(self, location: Location) -> Location:
        """The nearest place for the cursor: never in a chip or a letter, but past it in the direction of the move."""
        row, column = super().clamp_visitable(location)
        span = self._span(row, column)
        if span is None:
            return row, column
        start, end = span
        was_row, was = self.selection.end
        if was_row == row and not start < was < end:
            return row, start if was >= end else end
        return row, start if column - start < end - column else end

    def edit(self, edit: Edit) -> EditResult:
        """Do an edit; a chip or a letter that it touches goes as a whole."""
        top, bottom = edit.top, edit.bottom
        if first := self._span(*top):
            top = (top[0], first[0])
        if last := self._span(*bottom):
            bottom = (bottom[0], last[1])
        if (top, bottom) != (edit.top, edit.bottom):
            edit = Edit(edit.text, top, bottom, edit.maintain_selection_offset)
        result = super().edit(edit)
        self.scroll_cursor_visible()  # Textual does it before it knows of a new last row
        return result

    def _span(self, row: int, column: int) -> tuple[int, int] | None:
        line = self.document.get_line(row) if row < self.document.line_count else ""
        if line.isascii() or not 0 < column < len(line):
            return None
        return (mark_at(line, column) if START in line else None) or letter_at(line, column)

    def get_line(self, line_index: int) -> Text:
        """A line as it is drawn."""
        line = self.document.get_line(line_index)
        if START not in line:
            return Text(line, end="", no_wrap=True)
        text = Text(self._chips.label(line), end="", no_wrap=True)
        style = self.get_component_rich_style("field--chip")
        for start, end in marks(line):
            text.stylize(style, start, end)
        return text

    def find_matching_bracket(self, bracket: str, search_from: Location) -> Location | None:
        """None: prose has no use for it, and it looks through the whole text at each move."""
        return None

    def scroll_cursor_visible(self, center: bool = False, animate: bool = False) -> Offset:
        """Scroll to the cursor. While Textual undoes an edit the cursor may still be below the end of the text."""
        if self.cursor_location[0] >= self.document.line_count:
            return Offset(0, 0)
        return super().scroll_cursor_visible(center, animate)

    # Where the cursor is

    @property
    def position(self) -> int:
        """The cursor, as characters from the start of the document."""
        row, column = self.cursor_location
        return sum(len(self.document.get_line(above)) + 1 for above in range(row)) + column

    def location(self, position: int) -> Location:
        """The row and column of a position."""
        before = self.document.text[:position]
        return before.count("\n"), len(before) - before.rfind("\n") - 1

    def put(self, text: str, replaces: int = 0) -> None:
        """Put text where the selection is, or in place of the ``replaces`` characters before the cursor."""
        start, end = sorted(self.selection)
        if replaces:
            start = self.location(max(0, self.position - replaces))
        self.replace(text, start, end, maintain_selection_offset=False)

    def swap(self, document: str, end: bool = True) -> None:
        """Put another document in place of this one; can be undone. The cursor goes to its end, or to its first row."""
        self.replace(document, (0, 0), self.document.end, maintain_selection_offset=False)
        if not end:
            self.move_cursor((0, len(self.document.get_line(0))))

    def exchange(self, mark: str, text: str) -> None:
        """Put text in place of a chip, wherever it stands now."""
        position = self.document.text.find(mark)
        if position >= 0:
            ends = self.location(position), self.location(position + len(mark))
            self.replace(text, *ends, maintain_selection_offset=False)

    def forget(self) -> None:
        """An empty document without a past."""
        self.load_text("")
        if START in self._killed:
            self._killed = ""

    # Keys

    def action_leave(self) -> None:
        """A key of the text area that somebody else needs."""
        raise SkipAction

    def action_newline(self) -> None:
        self.put("\n")

    def action_cursor_up(self, select: bool = False) -> None:
        _, row = self.wrapped_document.location_to_offset(self.cursor_location)
        if not select and row == 0:
            if not self._owner.walk(1):
                self.move_cursor((0, 0))
            return
        super().action_cursor_up(select)

    def action_cursor_down(self, select: bool = False) -> None:
        _, row = self.wrapped_document.location_to_offset(self.cursor_location)
        if not select and row >= self.wrapped_document.height - 1:
            if not self._owner.walk(-1):
                self.move_cursor(self.document.end)
            return
        super().action_cursor_down(select)

    def action_cursor_page_up(self) -> None:
        if self.max_scroll_y == 0:
            raise SkipAction  # what was said scrolls instead
        super().action_cursor_page_up()

    def action_cursor_page_down(self) -> None:
        if self.max_scroll_y == 0:
            raise SkipAction
        super().action_cursor_page_down()

    def action_line_start(self) -> None:
        self.move_cursor((self.cursor_location[0], 0))

    def action_line_end(self) -> None:
        row = self.cursor_location[0]
        self.move_cursor((row, len(self.document.get_line(row))))

    def action_delete_right(self) -> None:
        if not self.text:
            raise SkipAction  # Ctrl+D with nothing typed is the app's
        super().action_delete_right()

    def action_kill_to_start(self) -> None:
        row, column = self.cursor_location
        self._kill((row, 0) if column else self.get_cursor_left_location())

    def action_kill_to_end(self) -> None:
        row, column = self.cursor_location
        end = len(self.document.get_line(row))
        self._kill((row, end) if column < end else self.get_cursor_right_location())

    def action_kill_word(self) -> None:
        row, column = self.cursor_location
        if not self.selection.is_empty:
            self._kill(*self.selection)
        elif column == 0:
            self._kill(self.get_cursor_left_location())
        else:
            line = self.document.get_line(row)[:column]
            chip = next((span for span in marks(line) if span[1] == column), None)
            self._kill((row, chip[0] if chip else _word_before(line)))

    def action_yank(self) -> None:
        if self._killed:
            self.put(self._killed)

    def _kill(self, start: Location, end: Location | None = None) -> None:
        start, end = sorted((start, self.cursor_location if end is None else end))
        if start != end:
            self.selection = Selection.cursor(end)
            self._killed = self.delete(start, end, maintain_selection_offset=False).replaced_text

    def action_cut(self) -> None:
        if self.selection.is_empty:
            raise SkipAction
        self.action_copy()
        self.delete(*sorted(self.selection), maintain_selection_offset=False)

    def action_copy(self) -> None:
        """Copy what is selected; a chip as what it stands for."""
        if self.selection.is_empty:
            raise SkipAction
        self.app.copy_to_clipboard(self._chips.expand(self.selected_text))


def _word_before(line: str) -> int:
    """Where the word before the end of a line begins; words are parted by blanks."""
    text = line.rstrip()
    return max((index + 1 for index, character in enumerate(text) if character.isspace()), default=0)
