"""What was said, and what one does to read it: scroll, search, fold, copy."""

import os
from collections.abc import Sequence
from typing import ClassVar, Literal

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widget import Widget

from hermes_core.types import Blob
from hermes_platform_tui.composer import Composer
from hermes_platform_tui.config import Config, Fold
from hermes_platform_tui.searchbar import SearchBar
from hermes_platform_tui.transcript import Transcript
from hermes_platform_tui.transcript.entries import Section

__all__ = ["Reading"]

_FOLDS: Sequence[Fold] = ("hidden", "collapsed", "expanded")


class Reading(Vertical):
    """A transcript with its search bar."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+f", "search", "Search", show=False),
        Binding("ctrl+y", "copy_last", "Copy answer", show=False),
        Binding("ctrl+up", "jump(-1)", "Previous message", show=False),
        Binding("ctrl+down", "jump(1)", "Next message", show=False),
        Binding("pageup", "scroll(-1)", "Up", show=False),
        Binding("pagedown", "scroll(1)", "Down", show=False),
    ]

    composer: Composer

    def __init__(self, config: Config, *, id: str) -> None:  # noqa: A002 - what Textual calls it
        super().__init__(id=id)
        self._config = config
        self._folds: dict[str, Fold] = {"reasoning": config.reasoning, "tools": config.tools}
        self.transcript = Transcript(config=config, picture=self._picture)
        self.search_bar = SearchBar()

    @property
    def timestamps(self) -> bool:
        """Whether each message says when it was said."""
        return self.transcript.timestamps

    def show_timestamps(self, *, on: bool) -> None:
        """Show when each message was said, or not."""
        self.transcript.timestamps = on

    def fold(self, sections: Sequence[Section], state: Fold | Literal[""]) -> None:
        """Fold thoughts or tool calls; without a state, to the next one."""
        for section in sections:
            now = _FOLDS.index(self._folds.get(section, "collapsed"))
            self._folds[section] = state or _FOLDS[(now + 1) % len(_FOLDS)]
            self.transcript.fold(section, self._folds[section])

    def clear(self) -> None:
        """An empty screen; what was said stays in the session."""
        self.transcript.clear()

    def copy_last(self) -> None:
        """Copy the message in focus, else the last answer."""
        self.transcript.copy_message()

    def copy_code(self) -> None:
        """Copy a code block of it."""
        self.transcript.copy_code()

    def action_search(self) -> None:
        """Search what was said."""
        self.search_bar.open()

    def action_copy_last(self) -> None:
        """Copy the last answer."""
        self.copy_last()

    def action_jump(self, step: Literal[-1, 1]) -> None:
        """To the message before, or after."""
        self.transcript.jump(step)

    def action_scroll(self, pages: int) -> None:
        """A page up or down."""
        self.transcript.turn_page(pages)

    @on(SearchBar.Sought)
    def _sought(self, event: SearchBar.Sought) -> None:
        event.stop()
        self.search_bar.show(self.transcript.search(event.words))

    @on(SearchBar.Stepped)
    def _stepped(self, event: SearchBar.Stepped) -> None:
        event.stop()
        self.search_bar.show(self.transcript.next_hit(1 if event.by > 0 else -1))

    @on(SearchBar.Closed)
    def _search_closed(self, event: SearchBar.Closed) -> None:
        event.stop()
        self.transcript.search("")
        self.composer.focus_input()

    @on(Transcript.Searched)
    def _searched(self, event: Transcript.Searched) -> None:
        event.stop()
        self.search_bar.show(event.state)

    def _picture(self, blob: Blob) -> Widget | None:
        from hermes_platform_tui.terminal.fit import Capabilities
        from hermes_platform_tui.terminal.pictures import how_to, picture

        how = how_to(Capabilities.of(os.environ), self._config.images)
        if how == "off":
            return None
        return picture(blob, width=min(80, self.size.width - 8), height=20, how=how)
