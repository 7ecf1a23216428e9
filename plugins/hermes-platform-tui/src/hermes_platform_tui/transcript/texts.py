"""The widgets of what is said and thought."""

from textual.app import ComposeResult
from textual.content import Content

from hermes_platform_tui.markdown.body import MarkdownBody
from hermes_platform_tui.markdown.width import clip
from hermes_platform_tui.transcript.block import Block, Body, CodeBlock
from hermes_platform_tui.transcript.cards import SPINNER
from hermes_platform_tui.transcript.entries import Speech, Thought
from hermes_platform_tui.transcript.frame import Frame
from hermes_platform_tui.transcript.rows import (
    ACCENT,
    MUTED,
    THINKING,
    WARN,
    Drawn,
    clipped,
)
from hermes_platform_tui.transcript.wording import blob_line, long_duration

__all__ = ["SpeechBlock", "ThoughtBlock"]


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
        self._end = Drawn(self._below)

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
        self._head = Drawn(self._line)
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
