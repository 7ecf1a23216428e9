"""One conversation on the screen, and what keys do with it: choose, fold, copy, search."""

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

from attrs import evolve
from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from hermes_platform_tui.markdown.clean import clean
from hermes_platform_tui.transcript.conversation import CHUNK, Conversation
from hermes_platform_tui.transcript.entries import Action, Entry, Failure, Remark, Speech
from hermes_platform_tui.transcript.hunt import SearchState

if TYPE_CHECKING:
    from hermes_platform_tui.markdown.body import MarkdownBody
    from hermes_platform_tui.transcript.block import Block

__all__ = ["Transcript"]

Choice: TypeAlias = tuple[str, str, Callable[[str], None]]  # its name, what it is about, what to do with that


class Transcript(Conversation):
    """A conversation that keys work in. What they are about is the current entry; it is chosen by key or mouse."""

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

    _choices: Sequence[Choice] = ()

    def clear(self) -> None:
        super().clear()
        self._close_choice()

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
        while self._past and self._past.more and number < self._past.oldest:
            await self._read_older(CHUNK)
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

    def toggle(self) -> None:
        """Fold or unfold the current entry."""
        if self._current and (block := self._page.blocks.get(self._current)):
            block.toggle()
            self.call_after_refresh(self._page.reveal, self._current)

    # Copying

    def copy_message(self) -> None:
        """Give the current message for the clipboard, or the last answer."""
        if entry := self._current or self._last_answer():
            what = {"person": "your message", "model": "the answer"}.get(getattr(entry, "who", ""), "the text")
            self.post_message(self.Copied(entry.words(), "the call" if isinstance(entry, Action) else what))

    def copy_code(self) -> None:
        """Give a code block of the current message, or of the last answer; asks which when there are several."""
        entry = self._current or self._last_answer(code=True)
        block = self._page.blocks.get(entry) if entry else None
        blocks = block.code_blocks() if block else []
        if not blocks:
            self.post_message(self.Copied("", "no code"))
        self._offer("Copy which?", [(language, text, self._give_code) for language, text in blocks])

    def open_link(self) -> None:
        """Open a link of the current message, or of the last answer; asks which when there are several."""
        entry = self._current or self._last_answer()
        block = self._page.blocks.get(entry) if entry else None
        links = [(text, address) for text, address in (block.links() if block else []) if _is_safe(address)]
        self._offer("Open which?", [(text, address, self._open) for text, address in dict.fromkeys(links)])

    def _offer(self, question: str, choices: Sequence[Choice]) -> None:
        """Do the only thing that can be done, or ask."""
        if len(choices) == 1:
            _, text, do = choices[0]
            do(text)
        elif choices:
            self._choices = choices[:9]
            names = [f"{at} {_short(name) or _short(text)}" for at, (name, text, _) in enumerate(self._choices, 1)]
            ask = self.query_one("#ask", Static)
            ask.update(Content(f"{question} {' · '.join(names)} · Esc"))
            ask.add_class("-shown")
            self._page.focus()  # the digit is for us, wherever the question came from

    def _last_answer(self, *, code: bool = False) -> Entry | None:
        for entry in reversed(self._page.entries):
            if isinstance(entry, Speech) and entry.who == "model" and (not code or "```" in entry.text):
                return entry
        return None

    def _give_code(self, text: str) -> None:
        self.post_message(self.Copied(text, "code"))

    def _open(self, address: str) -> None:
        self.post_message(self.LinkOpened(address))

    def on_markdown_body_link_clicked(self, event: "MarkdownBody.LinkClicked") -> None:
        """A link in a text was clicked."""
        event.stop()
        if _is_safe(event.address):
            self._open(event.address)

    def _close_choice(self) -> None:
        self._choices = ()
        for ask in self.query("#ask"):
            ask.remove_class("-shown")

    def on_key(self, event: events.Key) -> None:
        """A digit picks a code block; any other key gives that up."""
        if not self._choices:
            return
        chosen = int(event.key) if event.key in set("123456789") else 0
        choices = self._choices
        self._close_choice()
        if event.key == "escape" or chosen:
            event.stop()
            event.prevent_default()
        if 0 < chosen <= len(choices):
            _, text, do = choices[chosen - 1]
            do(text)

    # Searching

    def search(self, words: str) -> SearchState:
        """Look for words in the whole conversation, from the end; an empty text ends the search.

        What was not read yet is read meanwhile; ``Searched`` tells of it.
        """
        self.flush()
        self._lift()
        self._hunt.begin(words, self._page.entries)
        self._show_hit()
        if words.strip():
            self.run_worker(self._look_further(words), group="search", exclusive=True, exit_on_error=False)
        return self._found()

    def _found(self) -> SearchState:
        more = bool(self._hunt.state.words.strip() and self._past and self._past.more)
        return evolve(self._hunt.state, looking=self._hunt.state.looking or more)

    async def _look_further(self, words: str) -> None:
        while self._hunt.state.words == words:
            had = self._hunt.state.at
            if not self._hunt.go_on():
                if not (self._past and self._past.more):
                    break
                await self._read_older(CHUNK)
                continue
            if not had and self._hunt.state.hits:
                self._show_hit()
            self.post_message(self.Searched(self._found()))
            await asyncio.sleep(0)

    def next_hit(self, by: Literal[-1, 1] = 1) -> SearchState:
        """Show the next hit, or the previous one."""
        self._lift()
        self._hunt.step(by)
        self._show_hit()
        self.post_message(self.Searched(self._found()))
        return self._found()

    def _lift(self) -> None:
        for block in self._page.blocks.values():
            block.highlight("", None)

    def _show_hit(self) -> None:
        words, hit = self._hunt.state.words, self._hunt.current
        if hit is not None:
            entry, _ = hit
            if (block := self._page.blocks.get(entry)) and block.folded:
                block.toggle()
            elif not block and entry.foldable:
                entry.unfolded = True
            if entry not in self._page.blocks:
                self._page.go_to(entry)
            self.choose(entry)
        self.call_after_refresh(self._paint_hits, words, hit)

    def _paint_hits(self, words: str, hit: tuple[Entry, int] | None) -> None:
        """Mark what is found, once it is laid out."""
        if words != self._hunt.state.words or not words.strip():
            return
        for entry, block in self._page.blocks.items():
            rows = block.find(words)
            row = rows[min(hit[1], len(rows) - 1)] if hit and hit[0] is entry and rows else None
            block.highlight(words, row)
            if hit and hit[0] is entry:
                self._page.go_to_row(entry, row or 0)

    # Keys

    def action_jump(self, by: Literal[-1, 1]) -> None:
        """Ctrl+Up and Ctrl+Down."""
        self.jump(by)

    def action_jump_said(self, by: Literal[-1, 1]) -> None:
        """To what the person said before or after."""
        self.jump(by, said=True)

    def action_fold(self) -> None:
        """Enter and space."""
        self.toggle()

    def action_copy_message(self) -> None:
        """The key c."""
        self.copy_message()

    def action_copy_code(self) -> None:
        """The key y."""
        self.copy_code()

    def action_open_link(self) -> None:
        """The key l."""
        self.open_link()

    def action_next_hit(self, by: Literal[-1, 1]) -> None:
        """The keys n and N."""
        if self._hunt.state.hits:
            self.next_hit(by)

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


def _short(text: str) -> str:
    return " ".join(clean(text[:200]).split())[:20]


def _is_safe(address: str) -> bool:
    """Whether a link leads to where a browser goes, and not into this machine."""
    return address.lower().startswith(("https://", "http://", "mailto:")) and clean(address) == address
