"""Everything the app can do, in Textual's command palette."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.fuzzy import FuzzySearch

from hermes_core.values import frozen
from hermes_platform_tui.screens.shown import one_line

__all__ = ["Entry", "EverythingProvider", "HasEntries"]


@frozen
class Entry:
    """Something that can be done: what it is called, what it does, and doing it."""

    title: str
    help: str
    run: Callable[[], Any]


class HasEntries(Protocol):
    """An app that says what can be done in it now."""

    def palette_entries(self) -> Iterable[Entry]:
        """Slash commands, screens, sessions, models, skins, sections of the settings."""


class EverythingProvider(Provider):
    """Finds among ``app.palette_entries()``, which is asked once each time the palette opens."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._entries: tuple[tuple[Entry, str, str], ...] = ()

    async def startup(self) -> None:
        """Ask what there is."""
        entries = cast("HasEntries", self.app).palette_entries()
        self._entries = tuple((entry, one_line(entry.title, 200), one_line(entry.help, 300)) for entry in entries)

    async def discover(self) -> Hits:
        """All of it, in the order in which the app gives it."""
        for entry, title, what in self._entries:
            yield DiscoveryHit(Content(title), entry.run, text=title, help=_plain(what))

    async def search(self, query: str) -> Hits:
        """What fits the title, or less well what it does."""
        search = FuzzySearch()
        for entry, title, what in self._entries:
            score, places = search.match(query, title)
            if score > 0:
                yield Hit(_ranked(score), _marked(title, places), entry.run, text=title, help=_plain(what))
            elif (score := search.match(query, what)[0]) > 0:
                yield Hit(_ranked(score) / 4, Content(title), entry.run, text=title, help=_plain(what))


def _ranked(score: float) -> float:
    return score / (score + 10)


def _marked(title: str, places: Sequence[int]) -> Content:
    """The title with the letters that were found marked. Textual's own way reads it as markup."""
    content = Content(title)
    for place in places:
        if not title[place].isspace():
            content = content.stylize("bold underline", place, place + 1)
    return content


def _plain(text: str) -> str:
    """For where the palette reads markup: a bracket that opens nothing."""
    return text.replace("\\", "⧵").replace("[", "\\[")
