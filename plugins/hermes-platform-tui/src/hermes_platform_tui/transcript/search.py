"""The search of a transcript, and its hits on the screen."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Literal

from attrs import evolve

from hermes_platform_tui.transcript.entries import Entry
from hermes_platform_tui.transcript.hunt import Hunt, SearchState
from hermes_platform_tui.transcript.page import Page

if TYPE_CHECKING:
    from hermes_platform_tui.transcript.transcript import Transcript

__all__ = ["Search"]


class Search:
    """Finds words in the whole of a conversation, and shows where they are.

    ``more`` tells whether something was said before that was not read yet; ``read_on`` reads some of it.
    """

    def __init__(
        self,
        transcript: "Transcript",
        page: Page,
        hunt: Hunt,
        more: Callable[[], bool],
        read_on: Callable[[], Awaitable[bool]],
    ) -> None:
        self._transcript, self._page, self._hunt = transcript, page, hunt
        self._more, self._read_on = more, read_on

    def begin(self, words: str) -> SearchState:
        """Look for words from the end; an empty text ends the search.

        What was not read yet is read meanwhile; the transcript's ``Searched`` tells of it.
        """
        self._transcript.flush()
        self._lift()
        self._hunt.begin(words, self._page.entries)
        self._show_hit()
        if words.strip():
            further = self._look_further(words)
            self._transcript.run_worker(further, group="search", exclusive=True, exit_on_error=False)
        return self._found()

    def step(self, by: Literal[-1, 1] = 1) -> SearchState:
        """Show the next hit, or the previous one."""
        self._lift()
        self._hunt.step(by)
        self._show_hit()
        return self._tell()

    def _found(self) -> SearchState:
        state = self._hunt.state
        return evolve(state, looking=state.looking or bool(state.words.strip() and self._more()))

    def _tell(self) -> SearchState:
        found = self._found()
        self._transcript.post_message(self._transcript.Searched(found))
        return found

    async def _look_further(self, words: str) -> None:
        while self._hunt.state.words == words:
            had = self._hunt.state.at
            if not self._hunt.go_on():
                if not await self._read_on():
                    break
                continue
            if not had and self._hunt.state.hits:
                self._show_hit()
            self._tell()
            await asyncio.sleep(0)

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
            self._transcript.choose(entry)
        self._transcript.call_after_refresh(self._paint_hits, words, hit)

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
