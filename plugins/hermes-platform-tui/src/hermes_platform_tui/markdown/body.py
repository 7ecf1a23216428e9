"""One message as a widget: markdown that is shown while it is being written."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import monotonic

from rich.segment import Segment
from rich.style import Style
from textual.events import Click
from textual.geometry import Region, Size
from textual.message import Message
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style as VisualStyle
from textual.timer import Timer
from textual.widget import Widget

from hermes_platform_tui.markdown.clean import Cleaner
from hermes_platform_tui.markdown.code import warm
from hermes_platform_tui.markdown.contrast import readable
from hermes_platform_tui.markdown.document import CodeBlock, Document, Link
from hermes_platform_tui.markdown.roles import ROLES
from hermes_platform_tui.markdown.rows import PLAIN, Look, Part, Row
from hermes_platform_tui.markdown.width import cells

__all__ = ["MarkdownBody"]

FRAME = 1 / 20  # seconds between two looks at a text that is being written
FLOOD, FLOOD_FRAME = 400, 1 / 10  # more characters than that in a frame are faster than anyone reads
SHARE = 8  # of the time, what making the tail's rows may take: one part in so many
GULP = 64_000  # characters cut into blocks at once
_CACHED = 3000  # rows


_DRAWN = frozenset(("rule", "border"))  # not text, so they may be faint


class MarkdownBody(Widget):
    """The text of one message, as one widget whose rows are made when they are seen."""

    DEFAULT_CSS = "MarkdownBody { height: auto; width: 1fr; }"

    @dataclass
    class LinkClicked(Message):
        """A link was clicked. Terminals that know links open them by themselves, with a key held down."""

        body: "MarkdownBody"
        address: str

        @property
        def control(self) -> "MarkdownBody":
            """Who tells it."""
            return self.body

    ALLOW_SELECT = True

    def __init__(
        self,
        text: str = "",
        *,
        markdown: bool = True,
        name: str | None = None,
        id: str | None = None,  # noqa: A002 - as all widgets call it
        classes: str | None = None,
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self._markdown = markdown
        self._document = Document(markdown=markdown)
        self._cleaner = Cleaner()
        self._waiting: list[str] = []  # written, but not shown yet
        self._timer: Timer | None = None
        self._shown_at = self._cost = 0.0
        self._frame = FRAME
        self._shown_height = -1
        self._settling = self._stale = self._painting = self._ended = False
        self._current: int | None = None
        self._strips: dict[tuple[Row | None, int], Strip] = {}
        self._looks: dict[Look, Style] = {}
        self._ground: object = None
        if text:
            self.set_text(text)

    # text

    @property
    def text(self) -> str:
        """The source as far as it was written, clean."""
        return self._document.text + "".join(self._waiting)

    def append(self, text: str) -> None:
        """Write on. What is seen follows, at most twenty times a second."""
        if self._ended:
            self._restart([self.text])
        if shown := self._cleaner.feed(text):
            self._waiting.append(shown)
            self._show_soon()

    def finish(self) -> None:
        """No more text comes. (If some does all the same, everything is read once more.)"""
        if self._ended:
            return
        self._ended = True
        self._waiting.append(self._cleaner.finish())
        self._show_soon()

    def set_text(self, text: str) -> None:
        """Show another text instead."""
        self._restart([])
        self._waiting = [self._cleaner.feed(text)]
        self.finish()

    def _restart(self, waiting: list[str]) -> None:
        before = self._document
        self._document = Document(markdown=self._markdown)
        self._document.resize(before.width)
        self._document.search(before.words)
        self._cleaner = Cleaner()
        self._waiting = waiting
        self._strips.clear()
        self._shown_height = -1
        self._ended = False

    # what is in it

    @property
    def code_blocks(self) -> Sequence[CodeBlock]:
        """All code of the message."""
        self._ready()
        return self._document.code_blocks

    @property
    def links(self) -> Sequence[Link]:
        """All links and images of the message."""
        self._ready()
        return self._document.links

    def find(self, words: str) -> Sequence[int]:
        """The rows in which the words begin; upper and lower case are the same."""
        self._ready()
        return self._document.find(words)

    def highlight(self, words: str, current_row: int | None = None) -> None:
        """Mark each place that says the words, and one row of them more; no words end it."""
        self._document.search(words)
        self._current = current_row
        self.refresh()

    def _take(self, limit: int | None = None) -> int:
        """Let the document have what was written, or so many characters of it; tells how much it was."""
        text = "".join(self._waiting)
        self._waiting = [text[limit:]] if limit is not None and len(text) > limit else []
        if text:
            self._document.append(text[:limit])
        if self._ended and not self._waiting and not self._document.ended:
            self._document.finish()
            self._shown_height = -1  # addresses that came last may change any row
        return min(len(text), limit or len(text))

    def _ready(self) -> None:
        """Rows for all of the text, even before the widget was ever shown."""
        self._take()
        if not self._document.width:
            self._document.resize(self.content_size.width or 80)
        self._document.refresh_tail()
        self._document.settle(None)
        self._look_at_height()

    # time

    @property
    def _lives(self) -> bool:
        """Whether there is a screen to show it on; text may come before and after."""
        return self.is_mounted and self.is_running

    def _show_soon(self) -> None:
        if self._timer is not None or not self._lives:
            return
        wait = max(self._frame, self._cost * SHARE) - (monotonic() - self._shown_at)
        self._timer = self.set_timer(max(0.001, wait), self._show)  # a timer of 0 divides by it

    def _show(self) -> None:
        self._timer = None
        if not self._document.width:
            self.refresh(layout=True)
            return
        began = monotonic()
        before = self._document.tail_top
        self._frame = FLOOD_FRAME if self._take(GULP) > FLOOD else FRAME
        self._document.refresh_tail()
        self._document.settle()
        self._shown_at = monotonic()
        self._cost = self._shown_at - began
        if not self._look_at_height():
            top = min(before, self._document.tail_top)
            self.refresh(Region(0, top, self.size.width, max(1, self.size.height - top)))
        self._settle_soon()
        if self._waiting:
            self._show_soon()

    def _look_at_height(self) -> bool:
        """Ask for another layout if the number of rows is not what was told."""
        changed = self._document.height != self._shown_height
        if changed and self._lives:
            self.refresh(layout=True)
        return changed

    def _settle_soon(self) -> None:
        if not self._settling and not self._document.settled and self._lives:
            self._settling = True
            self.set_timer(0.005, self._settle)

    def _settle(self) -> None:
        """A step of laying out what is not seen."""
        self._settling = False
        if self._document.settle():
            self._look_at_height()
        else:
            self._settle_soon()

    def on_mount(self) -> None:
        """Show what was written before there was a place for it."""
        if "```" in self.text or "~~~" in self.text:
            warm()
        self._show_soon()

    def on_click(self, event: Click) -> None:
        """Tell of a link that was clicked; whether to open it is for the app to say."""
        if address := event.style.link:
            event.stop()
            self.post_message(self.LinkClicked(self, address))

    # size and rows

    def get_content_width(self, container: Size, viewport: Size) -> int:
        return container.width

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        if width <= 0:
            return 0
        self._fit(width)
        self._shown_height = self._document.height
        return self._shown_height

    def _fit(self, width: int) -> None:
        """Lay out for a width, unless that is done."""
        if width == self._document.width:
            return
        self._strips.clear()
        self._take(GULP)
        self._document.resize(width)
        self._document.settle()
        self._settle_soon()
        if self._waiting:
            self._show_soon()

    def render_lines(self, crop: Region) -> list[Strip]:
        ground = self.colors
        if ground != self._ground:
            self._ground = ground
            self._forget_looks()
        if width := self.content_size.width:
            self._fit(width)  # a layout that is known from before is taken again without asking for the height
        self._painting = True
        try:
            return super().render_lines(crop)
        finally:
            self._painting = False

    def render_line(self, y: int) -> Strip:
        width = self.content_size.width
        row = self._document.row(y)
        if not self._stale and self._document.height != self._shown_height:
            self._stale = True  # a guess was wrong
            self.call_later(self._mend)
        selection = self.text_selection
        span = selection.get_span(y) if selection is not None else None
        hits = self._document.hits_in(y)
        if span is None and not hits:
            strip = self._strips.get((row, width))
            if strip is None:
                if len(self._strips) > _CACHED:
                    self._strips.clear()
                strip = self._strips[row, width] = self._strip(row, row.parts if row else [], width)
        else:
            strip = self._strip(row, self._marked(row, hits, span, current=y == self._current), width)
        # Offsets are only looked for by who asks for a line to find a place in it, and they are dear.
        return strip if self._painting else strip.apply_offsets(0, y)

    def _mend(self) -> None:
        self._stale = False
        self._look_at_height()

    def _marked(
        self, row: Row | None, hits: Sequence[tuple[int, int]], span: tuple[int, int] | None, *, current: bool
    ) -> list[Part]:
        """The parts of a row with what is found and what is selected made visible."""
        parts = row.parts if row else []
        for start, end in hits:
            parts = _looking(parts, start, end, "current" if current else "hit")
        if span is not None:
            start, end = span
            parts = _looking(parts, start, len(row.text if row else "") if end == -1 else end, "selection")
        return parts

    def _strip(self, row: Row | None, parts: Sequence[Part], width: int) -> Strip:
        style = self._style(row.fill if row and row.fill else PLAIN)
        segments = [Segment(text, self._style(look)) for text, look in parts if text]
        used = cells(row.text) if row else 0
        if used > width:
            return Strip(segments, used).crop(0, width)
        if used < width:
            segments.append(Segment(" " * (width - used), style))
        return Strip(segments, width)

    def _style(self, look: Look) -> Style:
        style = self._looks.get(look)
        if style is None:
            visual = self.get_visual_style()
            for role in look.roles:
                if role in ROLES:
                    visual += VisualStyle.parse(ROLES[role], self.app.theme_variables)
            if "selection" in look.roles:
                visual += VisualStyle.from_styles(self.screen.get_component_styles("screen--selection"))
            if not _DRAWN.intersection(look.roles):
                visual = replace(visual, foreground=readable(visual.foreground, visual.background))
            style = visual.rich_style
            if look.link:
                style += Style(link=look.link)
            self._looks[look] = style
        return style

    def _forget_looks(self) -> None:
        self._strips.clear()
        self._looks.clear()
        self._visual_style_cache.clear()

    def notify_style_update(self) -> None:
        self._ground = None
        super().notify_style_update()

    # selection

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        start, end = selection.start, selection.end
        text = self._document.copy((start.y, start.x) if start else None, (end.y, end.x) if end else None)
        return text, "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        self.refresh()


def _looking(parts: Sequence[Part], start: int, end: int, role: str) -> list[Part]:
    """The parts with a role more from one place to another."""
    done: list[Part] = []
    place = 0
    for text, look in parts:
        first, last = max(0, start - place), max(0, min(len(text), end - place))
        place += len(text)
        if first >= last:
            done.append((text, look))
            continue
        pieces = ((text[:first], look), (text[first:last], look.also(role)), (text[last:], look))
        done += [piece for piece in pieces if piece[0]]
    return done
