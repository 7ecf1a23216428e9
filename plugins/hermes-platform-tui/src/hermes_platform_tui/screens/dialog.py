"""What all dialogs share: a box with a title, a place for notices, and a line that says which keys do what."""

import logging
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, ClassVar, NamedTuple, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.dom import DOMNode
from textual.screen import ModalScreen
from textual.style import Style
from textual.widget import Widget
from textual.widgets import Static

from hermes_platform_tui.screens.shown import clean

__all__ = ["Dialog", "Hint", "Hints", "begin"]

log = logging.getLogger(f"hermes.{__name__}")
T = TypeVar("T")
WIDTHS = ((0, "-narrow"), (60, "-medium"), (100, "-wide"))
HEIGHTS = ((0, "-short"), (18, "-tall"))


def begin(node: DOMNode, group: str, work: Callable[[], Coroutine[Any, Any, None]], *, alone: bool = True) -> None:
    """Do something beside what is seen, until the node goes; ``alone`` ends what was begun in the group before.

    A fault in it is told and logged. It costs what was asked for, and not the conversation behind the dialog.
    """

    async def guarded() -> None:
        try:
            await work()
        except Exception:
            log.exception("a screen could not do its work: %s", group)
            if node.is_attached and isinstance(node.screen, Dialog):
                node.screen.notice("That went wrong in a way nobody expected. See: hermes logs.", error=True)

    node.run_worker(guarded(), group=group, exclusive=alone)


class Hint(NamedTuple):
    """A key and what it does; an ``action`` makes it something to click."""

    key: str
    what: str
    action: str = ""


class Hints(Widget):
    """One line of keys. Those that do not fit are left out from the end."""

    DEFAULT_CSS = """
    Hints {
        height: 1;
        color: $text-muted;
        background: transparent;
        link-color: $text-muted;
        link-style: none;
        link-background: transparent;
    }
    """

    def __init__(self, hints: Sequence[Hint] = ()) -> None:
        super().__init__(id="hints")
        self._hints = tuple(hints)

    def show(self, hints: Sequence[Hint]) -> None:
        """Show others."""
        if tuple(hints) != self._hints:
            self._hints = tuple(hints)
            self.refresh()

    def render(self) -> Content:
        """As many as fit."""
        width, used = self.size.width, 0
        pieces: list[Content] = []
        for hint in self._hints:
            room = len(hint.key) + len(hint.what) + 1 + (2 if pieces else 0)
            if used + room > width:
                continue
            used += room
            meta = Style.from_meta({"@click": f"screen.{hint.action}"}) if hint.action else Style()
            piece = Content.assemble((hint.key, Style(bold=True)), " ", hint.what)
            pieces.append(piece.stylize(meta) if hint.action else piece)
        return Content("  ").join(pieces)


class Dialog(ModalScreen[T]):
    """A box over everything else. ``body`` says what is in it; it fills a small terminal.

    ``TITLE_TEXT`` is its title and ``HINTS`` its keys. ``finish`` ends it, once. A box of ``AUTO_HEIGHT`` is as high as
    what is in it; ``FLEXIBLE`` selects what scrolls when that is too much, so that the rest is always seen.
    """

    TITLE_TEXT: ClassVar[str] = ""
    HINTS: ClassVar[Sequence[Hint]] = (Hint("Esc", "close", "cancel"),)
    AUTO_HEIGHT: ClassVar[bool] = False
    FLEXIBLE: ClassVar[str] = ""
    DEFAULT_CSS = """
    Dialog {
        align: center middle;
        background: $background 70%;
        & > #box {
            width: 90%;
            max-width: 150;
            height: 90%;
            max-height: 50;
            padding: 0 1;
            border: round $primary;
            border-title-color: $text-primary;
            border-title-style: bold;
            border-subtitle-color: $text-muted;
            background: $surface;
        }
        &.-auto > #box { height: auto; max-width: 100; max-height: 90%; }
        &.-narrow > #box, &.-short > #box {
            width: 100%;
            max-width: 100%;
            height: 100%;
            max-height: 100%;
            border: none;
            border-top: solid $primary;
        }
        & #notice { height: auto; max-height: 4; display: none; color: $text-muted; }
        & #notice.-shown { display: block; }
        & #notice.-error { color: $text-error; }
        & #hints { margin-top: 1; }
        &.-short #hints { margin-top: 0; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "cancel", "Close", show=False)]

    def __init__(self) -> None:
        super().__init__()
        self._over = False
        self.HORIZONTAL_BREAKPOINTS, self.VERTICAL_BREAKPOINTS = list(WIDTHS), list(HEIGHTS)
        self.set_class(self.AUTO_HEIGHT, "-auto")

    def compose(self) -> ComposeResult:
        """The box, with notices and keys below what the dialog itself has."""
        with Vertical(id="box") as box:
            box.border_title = Content(self.TITLE_TEXT)
            yield from self.body()
            yield Static(id="notice", markup=False)
            yield Hints(self.HINTS)

    def body(self) -> ComposeResult:
        """What is in the box."""
        yield from ()

    def on_resize(self) -> None:
        """There may be room for more, or less."""
        self.call_after_refresh(self.fit)

    def fit(self) -> None:
        """Give what is flexible the room that the rest leaves."""
        if not self.FLEXIBLE or not self.is_mounted:
            return
        box = self.query_one("#box", Vertical)
        whole = self.has_class("-short") or self.has_class("-narrow")
        inside = self.size.height - 1 if whole else int(self.size.height * 0.9) - 2
        flexible = self.query_one(self.FLEXIBLE)
        others = [child for child in box.children if child.display and child is not flexible]
        used = sum(child.outer_size.height + child.styles.margin.height for child in others)
        flexible.styles.max_height = max(1, inside - used - flexible.styles.margin.height)

    def set_title(self, text: str, aside: str = "") -> None:
        """Another title, and something on the lower edge."""
        box = self.query_one("#box", Vertical)
        box.border_title, box.border_subtitle = Content(clean(text)), Content(clean(aside))

    def notice(self, text: str, *, error: bool = False) -> None:
        """Say something above the keys; nothing takes it away. An error says so: colours may be missing."""
        place = self.query_one("#notice", Static)
        place.update(Content(clean(f"! {text}" if error else text)))
        place.set_class(bool(text), "-shown")
        place.set_class(error, "-error")
        self.call_after_refresh(self.fit)

    def hint(self, hints: Sequence[Hint]) -> None:
        """Other keys than those it began with."""
        self.query_one(Hints).show(hints)

    def finish(self, result: T | None) -> None:
        """End with a result. A second answer, or one to a dialog under another, is not taken."""
        if not self._over and self.app.screen is self:
            self._over = True
            self.dismiss(result)

    def action_cancel(self) -> None:
        """Close without an answer."""
        self.finish(None)
