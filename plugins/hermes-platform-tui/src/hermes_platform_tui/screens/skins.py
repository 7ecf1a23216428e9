"""How it all looks, seen while one chooses."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import ClassVar

from textual import on
from textual.content import Content

from hermes_platform_tui.screens.dialog import Hint
from hermes_platform_tui.screens.picker import Picker, matches
from hermes_platform_tui.screens.rows import Row, Rows, columns
from hermes_platform_tui.screens.shown import one_line

__all__ = ["SkinPicker"]


class SkinPicker(Picker[str | None]):
    """Ends with a name or None. ``preview`` is called with the name under the cursor; Escape takes it back."""

    TITLE_TEXT = "Skins"
    PLACEHOLDER = "Type to find a skin"
    HINTS: ClassVar[Sequence[Hint]] = (
        Hint("Enter", "keep it", "keep"),
        Hint("Esc", "as it was", "cancel"),
        Hint("↑↓", "try"),
    )
    DEFAULT_CSS = """
    SkinPicker {
        align: right middle;
        background: transparent;
        & > #box { width: 50; max-width: 50; max-height: 24; }
    }
    """

    def __init__(
        self, skins: Iterable[tuple[str, str]], current: str, preview: Callable[[str], None] = lambda name: None
    ) -> None:
        super().__init__()
        self._skins, self._current, self._preview = tuple(skins), current, preview
        self._seen = current

    def on_mount(self) -> None:
        """Begin at the one in force."""
        self.rows.show([self._row(*skin) for skin in self._skins], at=self._current)

    def narrow(self) -> None:
        """Those that fit; the one that is tried may be another then."""
        self.rows.show([self._row(*skin) for skin in self._skins if matches(self.words, *skin)])

    def _row(self, name: str, what: str) -> Row:
        return Row(name, partial(_draw, one_line(name, 40), one_line(what, 200), name == self._current))

    @on(Rows.Moved)
    def _moved(self, event: Rows.Moved) -> None:
        name = event.row.id if event.row else self._current
        if name != self._seen:
            self._seen = name
            self._preview(name)

    @on(Rows.Chosen)
    def action_keep(self) -> None:
        """Keep the one under the cursor."""
        if self.rows.current is not None:
            self.finish(self.rows.current.id)

    def action_cancel(self) -> None:
        """As it was before."""
        if self._seen != self._current:
            self._preview(self._current)
        self.finish(None)


def _draw(name: str, what: str, current: bool, width: int) -> Content:
    shown = Content.styled(f"{name} •" if current else name, "bold")
    return columns(width, (shown, 18), (Content.styled(what, "$text-muted"), 0))
