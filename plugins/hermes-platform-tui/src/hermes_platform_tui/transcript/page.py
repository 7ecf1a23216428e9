"""The part of a conversation that has widgets: a window over its entries that follows what is looked at."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual.containers import VerticalScroll
from textual.geometry import Size
from textual.layout import DockArrangeResult
from textual.message import Message
from textual.widget import Widget

from hermes_platform_tui.transcript.entries import Entry, Remark, Speech
from hermes_platform_tui.transcript.rows import quiet_size

if TYPE_CHECKING:
    from hermes_platform_tui.transcript.block import Block

__all__ = ["Page"]

FIRST = 30  # widgets that are made at once
STEP = 20
MOST = 60  # widgets that are there at the same time, unless more than that are on the screen


class Page(VerticalScroll):
    """Shows the entries ``low`` to ``high`` of those it was given.

    What is in view stays where it is, whatever comes, goes or grows above it; only while it follows the end it moves
    with that. Both are done while the layout is made, so that no frame is ever seen in between.
    """

    virtual_size = quiet_size()

    DEFAULT_CSS = "Page { height: 1fr; scrollbar-size-vertical: 1; padding: 0; }"

    class Moved(Message):
        """What is in view, or what is below it, has changed."""

    class AtTop(Message):
        """The first entry is near the view: older ones are wanted."""

    class FirstWanted(Message):
        """The very first entry is to be shown."""

    def __init__(self, make: "Callable[[Entry], Block[Entry]]") -> None:
        super().__init__()
        self._make = make
        self.entries: list[Entry] = []
        self.blocks: dict[Entry, Block[Entry]] = {}
        self.low = self.high = 0
        self.following = True
        self._held: tuple[Widget, int] | None = None
        self._arranged: DockArrangeResult | None = None
        self._checking = False

    @property
    def at_end(self) -> bool:
        """Whether the last entry has a widget."""
        return self.high == len(self.entries)

    def show_window(self, entries: Sequence[Entry], around: Entry | None = None) -> None:
        """Begin anew with these entries, at the end or around one of them."""
        self._drop(list(self.blocks))
        self.entries = list(entries)
        self._held = self._arranged = None
        self.low = self.high = 0
        if not self.is_attached:  # it is called again when it is
            return
        self.following = around is None
        at = len(self.entries) if around is None else self.entries.index(around)
        self.low = max(0, at - (FIRST if around is None else FIRST // 3))
        self.high = min(len(self.entries), self.low + FIRST)
        made = [self._block(entry) for entry in self.entries[self.low : self.high]]
        if made:
            self.mount_all(made)
        if around is not None:
            self._held = (self.blocks[around], 0)
        self._check_soon()

    def insert(self, entry: Entry, before: Entry | None = None) -> None:
        """Put in an entry, at the end or before another one."""
        at = len(self.entries) if before is None else self.entries.index(before)
        at_end = self.at_end
        self.entries.insert(at, entry)
        if at < self.low:
            self.low, self.high = self.low + 1, self.high + 1
        elif at < self.high or (at_end and (self.following or self.high - self.low < MOST)):
            self.high += 1
            block = self._block(entry)
            following = self.blocks.get(before) if before is not None else None
            self.mount(block, before=following)
            if following is not None:
                self._space(self.entries.index(entry) + 1)
        self._check_soon()

    def remove_entry(self, entry: Entry) -> None:
        """Take an entry out."""
        if entry not in self.entries:
            return
        at = self.entries.index(entry)
        self.entries.pop(at)
        if entry in self.blocks:
            self._drop([entry])
        self.low -= at < self.low
        self.high -= at < self.high
        self._space(at)

    def prepend(self, entries: Sequence[Entry]) -> None:
        """Put in older entries; widgets are made of them when they come near."""
        first = self.entries[0] if self.entries else None
        self.entries[:0] = entries
        self.low, self.high = self.low + len(entries), self.high + len(entries)
        if first is not None and first in self.blocks:
            self._space(len(entries))
        self._check_soon()

    def go_to(self, entry: Entry) -> None:
        """Show an entry at the top, or as far up as it goes."""
        if entry not in self.blocks:
            self.show_window(self.entries, around=entry)
            return
        self.following = False
        self._held = (self.blocks[entry], 0)
        self.refresh(layout=True)
        self._check_soon()

    def go_to_row(self, entry: Entry, row: int) -> None:
        """Show a row of an entry in the upper part of the view, when it is not in view."""
        if entry not in self.blocks:
            self.show_window(self.entries, around=entry)
        self.following = False
        self._held = (self.blocks[entry], row - max(1, self.size.height // 3))
        self.refresh(layout=True)

    def reveal(self, entry: Entry) -> None:
        """Scroll as little as is needed to see an entry, its top at least."""
        block = self.blocks.get(entry)
        if block is None or not block.size.height:
            self.go_to(entry)
            return
        region, height = block.virtual_region, self.size.height
        top, bottom = round(self.scroll_y), round(self.scroll_y) + height
        if region.y < top or region.height >= height:
            self.scroll_to(y=region.y, animate=False, immediate=True)
        elif region.bottom > bottom:
            self.scroll_to(y=region.bottom - height, animate=False, immediate=True)

    def go_to_end(self) -> None:
        """Follow the end."""
        if not self.at_end:
            self.show_window(self.entries)
        self.following = True
        self.refresh(layout=True)
        self._check_soon()

    def first_in_view(self) -> Entry | None:
        """The entry at the top of the view."""
        return _entry_of(self._held[0]) if self._held else None

    def last_in_view(self, fits: Callable[[Entry], bool]) -> Entry | None:
        """The lowest entry in view that is of a kind."""
        placements = self._arranged.placements if self._arranged else []
        bottom = self.scroll_y + self.size.height
        shown = [_entry_of(at.widget) for at in placements if at.region.y < bottom]
        return next((entry for entry in reversed(shown) if entry and fits(entry)), None)

    def _block(self, entry: Entry) -> "Block[Entry]":
        block = self.blocks[entry] = self._make(entry)
        block.set_class(self._tight(self.entries.index(entry)), "-tight")
        return block

    def _drop(self, entries: Sequence[Entry]) -> None:
        blocks = [self.blocks.pop(entry) for entry in entries]
        for block in blocks:
            block.display = False  # it takes a moment until it is gone; no frame shows it meanwhile
        if blocks:
            self.remove_children(blocks)

    def _space(self, at: int) -> None:
        """Another entry stands before this one now."""
        if at < len(self.entries) and (block := self.blocks.get(self.entries[at])):
            block.set_class(self._tight(at), "-tight")

    def _tight(self, at: int) -> bool:
        """Whether no empty row stands above an entry: in a run of calls, thoughts and lines."""
        if at == 0:
            return True
        entry, before = self.entries[at], self.entries[at - 1]
        if isinstance(entry, Remark) and entry.kind == "usage":
            return not isinstance(before, Speech)
        loose = isinstance(before, Remark) and before.kind in {"usage", "day"}
        return _runs(entry) and _runs(before) and not loose

    def arrange(self, size: Size, optimal: bool = False) -> DockArrangeResult:
        """Lay out, and scroll to where this leaves what is in view."""
        result = super().arrange(size, optimal)
        if not optimal and size.height:
            self._settle(result, size.height)
        return result

    def _settle(self, result: DockArrangeResult, height: int) -> None:
        before = self.scroll_y
        bottom = max(0, result.total_region.bottom - height)
        place = float(bottom)
        if not self.following:
            place = self._place_of(result)
            place = min(max(0.0, place), float(bottom))
        if place != before:
            shift = place - before
            self.set_reactive(Widget.scroll_y, place)
            self.set_reactive(Widget.scroll_target_y, min(max(0.0, self.scroll_target_y + shift), float(bottom)))
            if self.show_vertical_scrollbar:
                bar = self.vertical_scrollbar
                bar.set_reactive(type(bar).position, place)
        if result is not self._arranged or place != before:
            self._arranged = result
            self._hold(keep=not self.following)
            self._check_soon()

    def _place_of(self, result: DockArrangeResult) -> float:
        if self._held is not None:
            widget, below = self._held
            for placement in result.placements:
                if placement.widget is widget:
                    return placement.region.y + below
        return self.scroll_y

    def _hold(self, *, keep: bool = False) -> None:
        """Take as what is in view the first widget that is. ``keep``: unless one was chosen that is still there."""
        if self._arranged is None:
            return
        placements = self._arranged.placements
        if keep and self._held and any(placement.widget is self._held[0] for placement in placements):
            return
        top = round(self.scroll_y)
        for placement in placements:
            if placement.region.bottom > top:
                self._held = (placement.widget, top - placement.region.y)
                return
        self._held = None

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Somebody scrolled: that decides what is held, and whether the end is followed."""
        super().watch_scroll_y(old_value, new_value)
        if self.at_end and new_value >= self.max_scroll_y:
            self.following = True
        elif new_value < old_value:
            self.following = False
        self._hold()
        self._check_soon()

    def _check_soon(self) -> None:
        if not self._checking and self.is_attached:
            self._checking = True
            self.call_after_refresh(self._check)

    def _check(self) -> None:
        """Make widgets of what comes near, and take away those that are far."""
        self._checking = False
        if not self.is_attached or (self._arranged is None and self.blocks):
            return  # nothing is known of where things are; once it is, this is called again
        height = max(1, self.size.height)
        if self.scroll_y < height / 2:
            if self.low:
                self._extend_up()
            elif self.entries:
                self.post_message(self.AtTop())
        if not self.at_end and self.scroll_y > self.max_scroll_y - height / 2:
            self._extend_down()
        self._trim(height)
        self.post_message(self.Moved())

    def _extend_up(self) -> None:
        low = max(0, self.low - STEP)
        first = self.blocks[self.entries[self.low]] if self.high > self.low else None
        made = [self._block(entry) for entry in self.entries[low : self.low]]
        self.low = low
        self.mount_all(made, before=first)
        self._check_soon()

    def _extend_down(self) -> None:
        high = min(len(self.entries), self.high + STEP)
        made = [self._block(entry) for entry in self.entries[self.high : high]]
        self.high = high
        self.mount_all(made)
        self._check_soon()

    def _trim(self, height: int) -> None:
        """Take away widgets that are more than two screens from the view, those of one end at a time."""
        over = self.high - self.low - MOST
        if over <= 0 or self._arranged is None:
            return
        regions = {placement.widget: placement.region for placement in self._arranged.placements}
        top, bottom = self.scroll_y - 2 * height, self.scroll_y + 3 * height
        above, below = [], []
        for entry in self.entries[self.low : self.low + over]:
            region = regions.get(self.blocks[entry])
            if region is None or region.bottom > top:
                break
            above.append(entry)
        for entry in reversed(self.entries[self.high - over : self.high]):
            region = regions.get(self.blocks[entry])
            if region is None or region.y < bottom:
                break
            below.append(entry)
        gone = above if len(above) >= len(below) else below
        if self.following:
            gone = above
        if not gone:
            return
        self._drop(gone)
        if gone is above:
            self.low += len(gone)
        else:
            self.high -= len(gone)

    def action_scroll_home(self) -> None:
        """The Home key: to the first message of all, which may have to be read."""
        self.post_message(self.FirstWanted())

    def action_scroll_end(self) -> None:
        """The End key."""
        self.go_to_end()

    def action_page_up(self) -> None:
        """A screen up, less two rows."""
        self.scroll_relative(y=-max(1, self.size.height - 2), animate=False, immediate=True)

    def action_page_down(self) -> None:
        """A screen down, less two rows."""
        self.scroll_relative(y=max(1, self.size.height - 2), animate=False, immediate=True)

    def action_scroll_up(self) -> None:
        """A row up."""
        self.scroll_relative(y=-1, animate=False, immediate=True)

    def action_scroll_down(self) -> None:
        """A row down."""
        self.scroll_relative(y=1, animate=False, immediate=True)


def _entry_of(widget: Widget) -> Entry | None:
    """What a widget shows; None when it is something else than a block."""
    entry = getattr(widget, "entry", None)
    return entry if isinstance(entry, Entry) else None


def _runs(entry: Entry) -> bool:
    return not isinstance(entry, Speech) and type(entry).__name__ != "Failure"
