"""One conversation on the screen, and what keys do with it: choose, fold, copy, search."""

import time
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar, Literal

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widget import Widget

from hermes_core.types import Blob
from hermes_platform_tui.config import Config
from hermes_platform_tui.transcript.conversation import Conversation
from hermes_platform_tui.transcript.copying import Copying
from hermes_platform_tui.transcript.entries import Action, Entry, Failure, Remark, Speech
from hermes_platform_tui.transcript.hunt import SearchState
from hermes_platform_tui.transcript.search import Search

if TYPE_CHECKING:
    from hermes_platform_tui.markdown.body import MarkdownBody
    from hermes_platform_tui.transcript.block import Block

__all__ = ["Transcript"]


class Transcript(Conversation):
    """A conversation that keys work in. What they are about is the current entry; it is chosen by key or mouse.

    ``search`` finds words in it, ``copying`` gives what is wanted of it elsewhere.
    """

    class Copied(Message):
        """Something is wanted on the clipboard; ``what`` says in words what it is."""

        def __init__(self, text: str, what: str) -> None:
            super().__init__()
            self.text, self.what = text, what

    class LinkOpened(Message):
        """A link is to be opened."""

        def __init__(self, url: str) -> None:
            super().__init__()
            self.url = url

    class RetryWanted(Message):
        """The turn that failed last is to be tried again."""

    class Searched(Message):
        """The search has gone on: older messages were read, or another hit is shown."""

        def __init__(self, state: SearchState) -> None:
            super().__init__()
            self.state = state

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+up", "jump(-1)", "Previous message", show=False),
        Binding("ctrl+down", "jump(1)", "Next message", show=False),
        Binding("left_square_bracket", "jump_said(-1)", "Previous question", show=False),
        Binding("right_square_bracket", "jump_said(1)", "Next question", show=False),
        Binding("enter,space", "fold", "Fold", show=False),
        Binding("c", "copy_message", "Copy"),
        Binding("y", "copy_code", "Copy code"),
        Binding("l", "open_link", "Open link"),
        Binding("o", "view", "Whole output", show=False),
        Binding("r", "retry", "Try again", show=False),
        Binding("n", "next_hit(1)", "Next hit", show=False),
        Binding("N", "next_hit(-1)", "Previous hit", show=False),
    ]

    def __init__(
        self,
        *,
        config: Config,
        picture: Callable[[Blob], Widget | None] | None = None,
        now: Callable[[], datetime] | None = None,
        clock: Callable[[], float] = time.monotonic,
        id: str | None = None,  # noqa: A002 - what Textual calls it
    ) -> None:
        super().__init__(config=config, picture=picture, now=now, clock=clock, id=id)
        self.search = Search(self, self._page, self._hunt, self._more, self._read_on)
        self.copying = Copying(self, self._page)

    def clear(self) -> None:
        super().clear()
        self.copying.close()

    # The current entry

    @property
    def current(self) -> Entry | None:
        """What keys are about; None when nothing was chosen."""
        return self._current

    def choose(self, entry: Entry | None) -> None:
        """Let keys be about an entry."""
        if self._current is not None and (block := self._page.blocks.get(self._current)):
            block.choose(False)
        self._current = entry
        if entry is not None and (block := self._page.blocks.get(entry)):
            block.choose(True)

    def on_descendant_focus(self) -> None:
        """Show where the keys are."""
        if self._current is None and (seen := self._page.last_in_view(lambda entry: _can_choose(entry, False))):
            self.choose(seen)

    def on_descendant_blur(self) -> None:
        """Hide it again, unless only the window lost the focus, or a search shows its hit."""
        self.call_later(self._leave)

    def _leave(self) -> None:
        focused = self.screen.focused if self.is_attached else None
        if focused is not None and focused is not self._page and not self._hunt.hits:
            self.choose(None)

    def jump(self, by: Literal[-1, 1], said: bool = False) -> None:
        """Choose the previous or next message; from none, the last in view. After the last comes the end, and none."""
        entries = [entry for entry in self._page.entries if _can_choose(entry, said)]
        if not entries:
            return
        order = {entry: at for at, entry in enumerate(self._page.entries)}
        seen = self._page.last_in_view(lambda entry: _can_choose(entry, said))
        outside = order[seen] + 1 if seen and not self._page.following else len(order)
        here = order.get(self._current, outside) if self._current else outside
        if by < 0:
            before = [entry for entry in entries if order[entry] < here]
            self._choose_seen(before[-1] if before else entries[0])
        elif behind := [entry for entry in entries if order[entry] > here]:
            self._choose_seen(behind[0])
        else:
            self.choose(None)
            self._page.go_to_end()

    def _choose_seen(self, entry: Entry) -> None:
        self._page.reveal(entry)
        self.choose(entry)

    async def jump_to(self, number: int) -> bool:
        """Show a message by its number in the session; False when it is not there. Older ones are read for it."""
        while self._history and number < self._history.oldest and await self._read_on():
            pass
        found = next((entry for entry in self._page.entries if entry.number >= max(1, number)), None)
        if found is None:
            return False
        self._page.go_to(found)
        self.choose(found)
        return found.number == number

    def on_block_picked(self, event: "Block.Picked") -> None:
        """The mouse was pressed on an entry."""
        event.stop()
        block = self._page.blocks.get(event.entry)
        self.choose(event.entry)
        if block:
            block.toggle()

    # What is told

    def on_markdown_body_link_clicked(self, event: "MarkdownBody.LinkClicked") -> None:
        """A link in a text was clicked."""
        event.stop()
        self.copying.follow(event.address)

    def on_key(self, event: events.Key) -> None:
        """A digit answers which code block or link is meant; any other key gives that up."""
        if self.copying.answer(event.key):
            event.stop()
            event.prevent_default()

    # Keys

    def action_jump(self, by: Literal[-1, 1]) -> None:
        """Ctrl+Up and Ctrl+Down."""
        self.jump(by)

    def action_jump_said(self, by: Literal[-1, 1]) -> None:
        """To what the person said before or after."""
        self.jump(by, said=True)

    def action_fold(self) -> None:
        """Fold or unfold the current entry."""
        if self._current and (block := self._page.blocks.get(self._current)):
            block.toggle()
            self.call_after_refresh(self._page.reveal, self._current)

    def action_copy_message(self) -> None:
        """The key c."""
        self.copying.message()

    def action_copy_code(self) -> None:
        """The key y."""
        self.copying.code()

    def action_open_link(self) -> None:
        """The key l."""
        self.copying.link()

    def action_next_hit(self, by: Literal[-1, 1]) -> None:
        """The keys n and N."""
        if self._hunt.state.hits:
            self.search.step(by)

    def action_retry(self) -> None:
        """Try a turn again that failed, when nothing came after it."""
        if any(isinstance(entry, Failure) and entry.retry for entry in self._feed.entries[-8:]):
            self.post_message(self.RetryWanted())

    def action_view(self) -> None:
        """Open the whole output of the current call, or of the last one."""
        entry = self._current or next((e for e in reversed(self._page.entries) if isinstance(e, Action)), None)
        if entry is None:
            return
        from hermes_platform_tui.transcript.viewer import Viewer

        text = (entry.output or entry.told).whole() if isinstance(entry, Action) else entry.words()
        title = entry.words().split("\n")[0] if not isinstance(entry, Action) else f"{entry.name}"
        self.app.push_screen(Viewer(title, text), self._viewed)

    def _viewed(self, text: str | None) -> None:
        if text is not None:
            self.post_message(self.Copied(text, "the whole output"))


def _can_choose(entry: Entry, said: bool) -> bool:
    if said:
        return isinstance(entry, Speech) and entry.who == "person"
    return not isinstance(entry, Remark) or entry.kind == "asked"
