"""The widgets of a conversation: one for each entry, which shows what the entry holds and keeps nothing of its own."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, ClassVar, Generic, TypeVar

from attrs import define
from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalGroup
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from hermes_core.types import Blob
from hermes_platform_tui.config import Config, Fold
from hermes_platform_tui.markdown.body import MarkdownBody
from hermes_platform_tui.markdown.width import clip
from hermes_platform_tui.transcript.cards import SPINNER, Card
from hermes_platform_tui.transcript.entries import PASTE, Action, Entry, Failure, Remark, Section, Speech, Thought
from hermes_platform_tui.transcript.rows import (
    ACCENT,
    BAD,
    MUTED,
    THINKING,
    WARN,
    Rows,
    clipped,
    plain_rows,
    quiet_size,
)
from hermes_platform_tui.transcript.wording import blob_line, long_duration, stamp

__all__ = ["Block", "CodeBlock", "Frame", "block_of"]

CodeBlock = tuple[str, str]  # language, text
E = TypeVar("E", bound=Entry)


@define
class Frame:
    """What all blocks of a transcript share."""

    config: Config
    folds: Mapping[Section, Fold]
    clock: Callable[[], float]
    picture: Callable[[Blob], Widget | None] | None = None


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
            yield Rows(lambda width: [Content.styled(stamp(at), MUTED)], classes="stamp")

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


class SpeechBlock(Block[Speech]):
    """What somebody said."""

    def __init__(self, entry: Speech, frame: Frame) -> None:
        super().__init__(entry, frame)
        self._shown = len(entry.text)
        self._short = entry.foldable and not entry.unfolded
        self._body = Body(entry.beginning if self._short else entry.text, markdown=entry.who == "model")
        self._body.can_focus = False
        self._body.display = bool(entry.text)
        self._finished = False
        self._end = Rows(self._below)

    def kind(self) -> str:
        return f"-{self.entry.who}"

    def compose(self) -> ComposeResult:
        yield from self.stamps()
        yield self._body
        yield self._end

    def on_mount(self) -> None:
        """Show what a stream that is over has."""
        self.show_pictures(self.entry.blobs)
        self.sync()

    def sync(self) -> None:
        text = self.entry.text
        if len(text) > self._shown:
            self._body.append(text[self._shown :])
            self._shown = len(text)
            self._body.display = True
        if not self.entry.live and not self._finished:
            self._finished = True
            self._body.finish()
        if self.entry.foldable and self._short != (not self.entry.unfolded):
            self._short = not self.entry.unfolded
            self._body.set_text(self.entry.beginning if self._short else text)
        if self.has_class("-pending") != self.entry.pending:
            self.set_class(self.entry.pending, "-pending")
        self._end.display = bool(self._below(80))
        if self._end.display:
            self._end.redraw()

    def _below(self, width: int) -> list[Content]:
        rows = [clipped(blob_line(blob), width, MUTED) for blob in self.entry.blobs]
        if self._short:
            left = self.entry.text.count("\n") - self.entry.beginning.count("\n")
            words = f"… {left:,} more line{'' if left == 1 else 's'}" if left else "… more"
            rows.insert(0, clipped(words + (" · Enter unfolds" if self.current else ""), width, MUTED))
        if self.entry.pending:
            rows.append(Content.styled("queued", ACCENT))
        if self.entry.cut:
            rows.append(Content.styled("■ interrupted", WARN))
        return rows

    def code_blocks(self) -> list[CodeBlock]:
        return [(block.language, block.text) for block in self._body.code_blocks]

    def links(self) -> list[tuple[str, str]]:
        return [(link.text, link.address) for link in self._body.links]

    def find(self, words: str) -> list[int]:
        return list(self._body.find(words))

    def highlight(self, words: str, current: int | None) -> None:
        self._body.highlight(words, current)


class ThoughtBlock(Block[Thought]):
    """What the model thought: one line, or all of it."""

    tight = True

    def __init__(self, entry: Thought, frame: Frame) -> None:
        super().__init__(entry, frame)
        self._head = Rows(self._line)
        self._body: MarkdownBody | None = None
        self._shown = 0
        self._ready = False

    def kind(self) -> str:
        return "-thought"

    def compose(self) -> ComposeResult:
        yield self._head

    def on_mount(self) -> None:
        """Unfold it when that is usual."""
        self._ready = True
        self.sync()

    def sync(self) -> None:
        self._head.redraw()
        if not self._ready or (self._body is None and self.folded):
            return
        text = self.entry.said.text
        if self._body is None:
            self._body, self._shown = Body(text.strip(), markdown=True), len(text)
            self._body.can_focus = False
            self.mount(self._body, after=self._head)
        self._body.display = not self.folded
        if len(text) > self._shown:
            self._body.append(text[self._shown :])
            self._shown = len(text)
        if not self.entry.live:
            self._body.finish()

    def tick(self) -> None:
        if self.entry.live:
            self._head.redraw()

    def _line(self, width: int) -> list[Content]:
        entry = self.entry
        if not entry.live:
            took = "Thought" if entry.seconds is None else f"Thought for {long_duration(entry.seconds)}"
            return [Content.assemble(("▸ " if self.folded else "▾ ", MUTED), (clip(took, width - 2), THINKING))]
        seconds = self.frame.clock() - entry.since
        mark = SPINNER[int(seconds * 10) % len(SPINNER)]
        rows = [
            Content.assemble((f"{mark} ", ACCENT), (clip(f"Thinking… {long_duration(seconds)}", width - 2), THINKING))
        ]
        if self.folded:
            last = entry.said.text[-4 * width :].rstrip().rpartition("\n")[2]
            rows.append(clipped(last[-(width - 4) :] if last.isascii() else last, width, MUTED, "  ┊ "))
        return rows

    def find(self, words: str) -> list[int]:
        if self._body is None or self.folded:
            return []
        return [row + 1 for row in self._body.find(words)]

    def highlight(self, words: str, current: int | None) -> None:
        if self._body is not None:
            self._body.highlight(words, current - 1 if current else None)


class RowsBlock(Block[E]):
    """An entry that is only rows."""

    def __init__(self, entry: E, frame: Frame) -> None:
        super().__init__(entry, frame)
        self._rows = Rows(self.draw)

    def compose(self) -> ComposeResult:
        yield self._rows

    def draw(self, width: int) -> list[Content]:
        """The rows."""
        return []

    def some(self, text: str, width: int, ink: str, first: str = "", rest: str = "") -> list[Content]:
        """A text, of a long one its first lines while it is folded, and never more than can be laid out at once."""
        if not self.entry.foldable:
            return plain_rows(text, width, ink, first, rest)
        most = PASTE if self.folded else 200
        lines = text.split("\n")
        rows = plain_rows("\n".join(lines[:most])[: most * 200], width, ink, first, rest)
        hint = " · Enter unfolds" if self.current and self.folded else "" if self.folded else " · o shows all"
        left = max(0, len(lines) - most)
        more = f"… {left:,} more line{'' if left == 1 else 's'}" if left else "… more"
        if left or len(text) > most * 200:
            rows.append(clipped(more + hint, width, MUTED, rest))
        return rows

    def sync(self) -> None:
        self._rows.redraw()

    def find(self, words: str) -> list[int]:
        return self._rows.find(words)

    def highlight(self, words: str, current: int | None) -> None:
        self._rows.highlight(words, current)


class ActionBlock(RowsBlock[Action]):
    """A tool call."""

    tight = True

    def __init__(self, entry: Action, frame: Frame) -> None:
        self._card = Card(entry, frame.config.result_lines, frame.clock)
        super().__init__(entry, frame)

    def kind(self) -> str:
        return "-action"

    def on_mount(self) -> None:
        """Show the pictures of a result that is there."""
        self.show_pictures(self.entry.blobs)

    def draw(self, width: int) -> list[Content]:
        self._card.folded, self._card.current = self.folded, self.current
        return self._card.rows(width)

    def sync(self) -> None:
        if self.is_mounted:
            self.show_pictures(self.entry.blobs)
        super().sync()

    def tick(self) -> None:
        if self.entry.state == "running":
            self._rows.redraw()

    def code_blocks(self) -> list[CodeBlock]:
        output = (self.entry.output or self.entry.told).shown()
        commands = [self.entry.arguments().get(key) for key in ("command", "code", "content")]
        given = [("given", value) for value in commands if isinstance(value, str) and value]
        return given + ([("output", output)] if output else [])


class RemarkBlock(RowsBlock[Remark]):
    """A line between."""

    tight = True

    def kind(self) -> str:
        return f"-{self.entry.kind}"

    def draw(self, width: int) -> list[Content]:
        text, kind = self.entry.text, self.entry.kind
        if kind == "day":
            rule = max(0, (width - len(text) - 2) // 2)
            return [Content.styled(clip(f"{'─' * rule} {text} {'─' * rule}", width), MUTED)]
        mark, ink = {"asked": ("? ", ACCENT), "stopped": ("■ ", WARN), "caution": ("! ", WARN)}.get(kind, ("", MUTED))
        rows = self.some(text, width - len(mark), MUTED if kind != "caution" else WARN)
        first, *rest = rows or [Content()]
        return [Content.assemble((mark, ink), first), *(Content.assemble(" " * len(mark), row) for row in rest)]


class FailureBlock(RowsBlock[Failure]):
    """Why it could not go on, and what to do now."""

    def kind(self) -> str:
        return "-failure"

    def draw(self, width: int) -> list[Content]:
        rows = self.some(self.entry.text.strip() or "It could not go on.", width, BAD, "✗ ", "  ")
        if self.entry.hint.strip():
            rows += plain_rows(self.entry.hint.strip(), width, "", "→ ", "  ")
        if self.entry.retry:
            rows.append(clipped("r tries again", width, MUTED, "  "))
        return rows


def block_of(entry: Entry, frame: Frame) -> Block[Entry]:
    """The widget for an entry."""
    for kind, made in _BLOCKS.items():
        if isinstance(entry, kind):
            block: Block[Entry] = made(entry, frame)
            return block
    raise TypeError(f"nothing shows {type(entry).__name__}")


_BLOCKS: dict[type[Entry], Callable[..., Any]] = {
    Speech: SpeechBlock,
    Thought: ThoughtBlock,
    Action: ActionBlock,
    Remark: RemarkBlock,
    Failure: FailureBlock,
}
