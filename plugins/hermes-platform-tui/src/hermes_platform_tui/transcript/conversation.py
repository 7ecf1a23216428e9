"""One conversation on the screen: what was said, thought and done."""

import asyncio
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar, Literal

from textual import events, on
from textual.app import ComposeResult
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Static

from hermes_core.errors import HermesError
from hermes_core.types import Blob, Event
from hermes_platform_tui.config import Config, Fold
from hermes_platform_tui.transcript.entries import Entry, Section, Speech
from hermes_platform_tui.transcript.feed import Feed
from hermes_platform_tui.transcript.frame import Frame
from hermes_platform_tui.transcript.history import History
from hermes_platform_tui.transcript.hunt import Hunt
from hermes_platform_tui.transcript.page import MOST, Page

if TYPE_CHECKING:
    from hermes_platform_tui.distant import Around
    from hermes_platform_tui.transcript.block import Block

__all__ = ["Conversation"]

FRAME = 0.05  # seconds between two looks at what is new
TICK = 0.2  # seconds between steps of a spinner
_FOLDS: Sequence[Fold] = ("hidden", "collapsed", "expanded")
CHUNK = 100  # half as many messages are read at once for a search


class Conversation(Widget):
    """Shows the events of turns as they come, and the messages of before as one scrolls up to them.

    ``show``, ``say`` and the like may be called as often as one likes: what is new is put on the screen every 50 ms,
    or at once by ``flush``. ``now`` and ``clock`` tell the time of day and the seconds that pass.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "transcript--muted",
        "transcript--strong",
        "transcript--accent",
        "transcript--ok",
        "transcript--bad",
        "transcript--warn",
        "transcript--added",
        "transcript--removed",
        "transcript--hit",
        "transcript--hit-now",
        "transcript--user",
        "transcript--tool",
        "transcript--thinking",
    }

    DEFAULT_CSS = """
    Conversation { height: 1fr; layers: page marks; }
    Conversation > .transcript--muted { color: $foreground-muted; }
    Conversation > .transcript--strong { text-style: bold; }
    Conversation > .transcript--accent { color: $text-accent; }
    Conversation > .transcript--ok { color: $text-success; }
    Conversation > .transcript--bad { color: $text-error; }
    Conversation > .transcript--warn { color: $text-warning; }
    Conversation > .transcript--added { color: $text-success; background: $success 12%; }
    Conversation > .transcript--removed { color: $text-error; background: $error 12%; }
    Conversation > .transcript--hit { background: $warning 30%; text-style: underline; }
    Conversation > .transcript--hit-now { background: $warning; color: $background; text-style: bold; }
    Conversation > .transcript--user { color: $text-secondary; }
    Conversation > .transcript--tool { color: $text-secondary; text-style: bold; }
    Conversation > .transcript--thinking { color: $foreground-muted; text-style: italic; }
    Conversation > Page { layer: page; }
    Conversation > .mark { layer: marks; dock: bottom; height: 1; width: auto; padding: 0 1; display: none; }
    Conversation > .mark.-shown { display: block; }
    Conversation > #new { background: $accent; color: $background; }
    Conversation > #ask { background: $panel; color: $foreground; width: 100%; }
    """

    def __init__(
        self,
        *,
        config: Config,
        picture: Callable[[Blob], Widget | None] | None = None,
        now: Callable[[], datetime] | None = None,
        clock: Callable[[], float] = time.monotonic,
        id: str | None = None,  # noqa: A002 - what Textual calls it
    ) -> None:
        super().__init__(id=id)
        self._folds: dict[Section, Fold] = {"reasoning": config.reasoning, "tools": config.tools}
        self._frame = Frame(config, self._folds, clock, picture)
        self._feed = Feed(config, now or _now, clock)
        self._page = Page(self._block)
        self._new = Static("↓ new", id="new", classes="mark", markup=False)
        self._ask = Static("", id="ask", classes="mark", markup=False)
        self._hunt = Hunt()
        self._history: History | None = None
        self._reading = asyncio.Lock()
        self._current: Entry | None = None
        self._timer: Timer | None = None
        self._ticker: Timer | None = None
        self._unseen = False

    def _block(self, entry: Entry) -> "Block[Entry]":
        from hermes_platform_tui.transcript.blocks import block_of  # an empty conversation needs none

        return block_of(entry, self._frame)

    def compose(self) -> ComposeResult:
        yield self._page

    def on_mount(self) -> None:
        """Show what was told before there was a screen. Marks, which are not seen yet, come after the first frame."""
        self.call_after_refresh(self.mount, self._new, self._ask)
        self._ticker = self.set_interval(TICK, self._tick, pause=True)
        self._feed.fresh.clear()
        self._page.show_window(self._shown(self._feed.entries))
        self.flush()

    def on_resize(self, event: events.Resize) -> None:
        """Keep the mark that there is more at the right, where it covers least."""
        self._new.styles.offset = (max(0, event.size.width - 9), 0)

    def focus(self, scroll_visible: bool = True) -> "Conversation":
        """Give the keys to it."""
        self._page.focus(scroll_visible)
        return self

    @property
    def is_empty(self) -> bool:
        """Whether nothing was said yet."""
        return not self._feed.entries

    @property
    def entries(self) -> Sequence[Entry]:
        """What was said, thought and done, in order."""
        return tuple(self._feed.entries)

    @property
    def timestamps(self) -> bool:
        """Whether what comes from now on says when it came."""
        return self._feed.timestamps

    @timestamps.setter
    def timestamps(self, on: bool) -> None:
        self._feed.timestamps = on

    def turn_page(self, by: int) -> None:
        """A page up or down."""
        (self._page.action_page_up if by < 0 else self._page.action_page_down)()

    # What is told

    def show(self, event: Event) -> None:
        """Take in an event of a turn."""
        self._feed.show(event)
        self._soon()

    def say(self, text: str, attachments: Sequence[Blob] = (), *, pending: bool = False) -> None:
        """What the person said. ``pending``: it waits; the next Started is of the first that does."""
        self._feed.say(text, attachments, pending=pending)
        self._page.following = True  # who says something wants to see what comes of it
        self._soon()

    def withdraw(self, text: str) -> bool:
        """Take back a message that waits; False when none does that says this."""
        entry = self._feed.withdraw(text)
        if entry is not None:
            self._page.remove_entry(entry)
        return entry is not None

    def note(self, text: str) -> None:
        """A dim line."""
        self._feed.note(text)
        self._soon()

    def answer(self, text: str) -> None:
        """What a slash command gave."""
        self._feed.answer(text)
        self._soon()

    def fail(self, text: str, hint: str = "") -> None:
        """Something did not work, and what to do about it."""
        self._feed.fail(text, hint)
        self._soon()

    async def load(self, ctx: "Around", session: str, *, newest: int = 30) -> None:
        """Show a session from its end; older messages come as one scrolls up. Raises HermesError."""
        history = History(ctx, session)
        entries = await history.newest(newest)
        self.clear()
        self._history = history
        self._feed.entries.extend(entries)
        self._page.show_window(self._shown(entries))

    def clear(self) -> None:
        """An empty conversation."""
        self._feed.clear()
        self._history, self._current, self._unseen = None, None, False
        self._hunt.begin("", ())
        self._page.show_window([])

    def flush(self) -> None:
        """Put on the screen what is new."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if not self._page.is_attached:
            return
        fresh, self._feed.fresh = self._feed.fresh, []
        touched, self._feed.touched = self._feed.touched, {}
        if any(isinstance(entry, Speech) and entry.who == "person" for entry in fresh) and self._page.following:
            self._page.go_to_end()
        if len(fresh) > MOST and self._page.following:
            self._page.show_window(self._shown(self._feed.entries))  # most of it would be gone again at once
            fresh = []
        for entry in fresh:
            if self._is_shown(entry):
                self._page.insert(entry, self._after(entry))
        for entry in touched:
            if block := self._page.blocks.get(entry):
                block.sync()
        if (fresh or touched) and not self._page.following:
            self._unseen = True
        if self._ticker is not None:
            (self._ticker.resume if self._feed.live else self._ticker.pause)()
        self._mark()

    def _soon(self) -> None:
        if self._timer is None and self.is_attached:
            self._timer = self.set_timer(FRAME, self.flush)

    def _after(self, entry: Entry) -> Entry | None:
        """The next entry on the page: what waits for its turn stays below all else."""
        entries = self._feed.entries
        if entries[-1] is entry:
            return None
        at = len(entries) - 1
        while entries[at] is not entry:
            at -= 1
        page = self._page.entries[-len(entries) + at :]
        there = set(page)
        return next((later for later in entries[at + 1 :] if later in there), None)

    def _tick(self) -> None:
        for block in self._page.blocks.values():
            block.tick()

    # What is shown

    def fold(self, section: Section, state: Fold | Literal[""]) -> None:
        """How much is shown of all the model's thinking, or of all tool calls; without a state, the next one."""
        before = self._folds[section]
        state = state or _FOLDS[(_FOLDS.index(before) + 1) % len(_FOLDS)]
        self._folds[section] = state
        for entry in self._feed.entries:
            if entry.section == section:
                entry.unfolded = None
        if "hidden" in {before, state} and before != state:
            at = None if self._page.following else self._page.first_in_view()
            self.flush()
            shown = self._shown(self._feed.entries)
            self._page.show_window(shown, at if at in shown else None)
            return
        for entry, block in self._page.blocks.items():
            if entry.section == section:
                block.sync()

    def _is_shown(self, entry: Entry) -> bool:
        return entry.section is None or self._folds[entry.section] != "hidden"

    def _shown(self, entries: Sequence[Entry]) -> list[Entry]:
        return [entry for entry in entries if self._is_shown(entry)]

    @on(Page.AtTop)
    def _want_older(self, event: Page.AtTop) -> None:
        event.stop()
        if self._more() and not self._reading.locked():
            self.run_worker(self._read_older(), group="older", exit_on_error=False)

    @on(Page.FirstWanted)
    def _go_to_first(self, event: Page.FirstWanted) -> None:
        event.stop()
        self.run_worker(self.go_to_first(), group="first", exclusive=True, exit_on_error=False)

    async def go_to_first(self) -> None:
        """Show the beginning of the conversation; what was not read yet is read."""
        while await self._read_on():
            pass
        if self._page.entries:
            self._page.go_to(self._page.entries[0])

    def _more(self) -> bool:
        """Whether something was said before that was not read yet."""
        return bool(self._history and self._history.more)

    async def _read_on(self) -> bool:
        """Read some of it; False when there is no more."""
        if not self._more():
            return False
        await self._read_older(CHUNK)
        return True

    async def _read_older(self, window: int = 12) -> None:
        """Read a page of older messages and put it above the others."""
        async with self._reading:
            history = self._history
            if history is None or not history.more:
                return
            try:
                entries = await history.older(window)
            except HermesError as error:
                history.oldest = 0
                self.note(f"Older messages cannot be read: {error}")
                return
            if history is not self._history:  # another conversation is shown by now
                return
            self._feed.entries[:0] = entries
            self._page.prepend(self._shown(entries))
            self._hunt.extend(self._shown(entries))

    @on(events.Click, "#new")
    def _go_to_new(self, event: events.Click) -> None:
        event.stop()
        self._page.go_to_end()

    @on(Page.Moved)
    def _mark(self) -> None:
        if self._page.following:
            self._unseen = False
        self._new.set_class(self._unseen, "-shown")


def _now() -> datetime:
    return datetime.now().astimezone()
