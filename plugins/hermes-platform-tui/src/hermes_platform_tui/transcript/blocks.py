"""The widgets of a conversation: one for each entry, which shows what the entry holds and keeps nothing of its own."""

from collections.abc import Callable
from typing import Any, TypeVar

from textual.app import ComposeResult
from textual.content import Content

from hermes_platform_tui.markdown.width import clip
from hermes_platform_tui.transcript.block import Block, CodeBlock
from hermes_platform_tui.transcript.cards import Card
from hermes_platform_tui.transcript.entries import PASTE, Action, Entry, Failure, Remark, Speech, Thought
from hermes_platform_tui.transcript.frame import Frame
from hermes_platform_tui.transcript.rows import (
    ACCENT,
    BAD,
    MUTED,
    WARN,
    Drawn,
    clipped,
    plain_rows,
)
from hermes_platform_tui.transcript.texts import SpeechBlock, ThoughtBlock

__all__ = ["block_of"]

E = TypeVar("E", bound=Entry)


class RowsBlock(Block[E]):
    """An entry that is only rows."""

    def __init__(self, entry: E, frame: Frame) -> None:
        super().__init__(entry, frame)
        self._rows = Drawn(self.draw)

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
