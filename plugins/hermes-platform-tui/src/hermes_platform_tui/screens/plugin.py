"""A screen that a plugin brings: its columns, asked again while they are seen, and its keys."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content

from hermes_core.errors import HermesError
from hermes_platform_tui.screens.columns import Columns
from hermes_platform_tui.screens.confirm import ConfirmDialog
from hermes_platform_tui.screens.dialog import Dialog, Hint, begin
from hermes_platform_tui.screens.picker import Picker, matches
from hermes_platform_tui.screens.prompt import PromptDialog
from hermes_platform_tui.screens.rows import Row, Rows, columns
from hermes_platform_tui.screens.sheet import Sheet, Writing
from hermes_platform_tui.screens.shown import clean, fault, one_line
from hermes_tool_kit.screens import Key, Screen

__all__ = ["PluginScreen", "ScreenPicker"]

_KEYS = (
    ("Arrows", "choose a card"),
    ("Enter", "all about it"),
    ("Shift+← Shift+→", "move it to another column, where it can go there"),
    ("F5", "look again"),
)
_LEAST = 0.5  # seconds between two times that a plugin is asked


class PluginScreen(Dialog[None]):
    """Shows a screen of a plugin's. Arrows choose, Enter shows all about a card, and the plugin's keys do the rest."""

    AUTO_FOCUS = "#columns"
    DEFAULT_CSS = """
    PluginScreen > #box { width: 100%; max-width: 100%; height: 100%; max-height: 100%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f5", "again", show=False),
        Binding("question_mark", "keys", show=False),
    ]

    def __init__(self, screen: Screen) -> None:
        super().__init__()
        self._screen = screen
        self._keys: Mapping[str, Key] = {one.key: one for one in screen.keys}
        self._told = self._failed = False
        self._note = ""

    def body(self) -> ComposeResult:
        """The columns."""
        yield Columns()

    def on_mount(self) -> None:
        """Ask, and go on asking."""
        self.set_title(self._screen.title)
        fixed = [Hint("Esc", "close", "cancel"), Hint("Enter", "open"), Hint("?", "keys", "keys")]
        self.hint([*fixed, *(Hint(one.key, one_line(one.does, 30)) for one in self._screen.keys)])
        self.set_interval(max(_LEAST, self._screen.every), self._tick)
        self.action_again()

    def _tick(self) -> None:
        if self.app.screen is self:
            self.action_again()

    def action_again(self) -> None:
        """Ask now."""
        begin(self, "picture", self._ask)

    async def _ask(self) -> None:
        place = self.query_one(Columns)
        try:
            picture = await self._screen.picture()
        except HermesError as error:
            self._failed = True
            self.notice(fault(error), error=True)
            return
        if self._failed:
            self._failed = False
            self.notice("")
        self._note = one_line(picture.note, 120)
        place.show(picture.columns, "" if self._told else picture.at)
        self._told = True

    @on(Columns.Seen)
    def _seen(self) -> None:
        first, last, whole = self.query_one(Columns).seen
        aside = f"{first}–{last} of {whole}" if last - first + 1 < whole else ""
        self.set_title(self._screen.title, " · ".join(filter(None, (self._note, aside))))

    def on_key(self, event: events.Key) -> None:
        """A key of the plugin's."""
        key = self._keys.get(event.character or "") if event.is_printable else None
        if key is None or self.app.screen is not self:
            return
        event.stop()
        card = self.query_one(Columns).card
        if card is None and not key.alone:
            self.notice("Choose a card first.")
            return
        do, name = partial(self._press, key.key, card.id if card else ""), one_line(card.title, 80) if card else ""
        if key.asks:
            dialog = PromptDialog(one_line(key.does, 40).capitalize(), text=f"{key.asks}\n{name}".strip(), empty=True)
            self.app.push_screen(dialog, lambda typed: do(typed) if typed is not None else None)
        elif key.sure:
            sure = ConfirmDialog(f"{key.sure}\n{name}".strip(), ("yes", "cancel"), title=one_line(key.does, 40))
            self.app.push_screen(sure, lambda said: do("") if said == "yes" else None)
        else:
            do("")

    def _press(self, key: str, card: str, text: str) -> None:
        self._do(lambda: self._screen.press(key, card, text.strip()))

    @on(Columns.Pushed)
    def _pushed(self, event: Columns.Pushed) -> None:
        self._do(lambda: self._screen.move(event.card.id, event.column.id))

    def _do(self, work: Callable[[], Awaitable[str]]) -> None:
        begin(self, "key", partial(self._done, work), alone=False)

    async def _done(self, work: Callable[[], Awaitable[str]]) -> None:
        try:
            said, wrong = await work(), False
        except HermesError as error:
            said, wrong = fault(error), True
        await self._ask()
        self.notice(said, error=wrong)

    @on(Columns.Chosen)
    def _chosen(self) -> None:
        if card := self.query_one(Columns).card:
            begin(self, "about", partial(self._about, card.id, card.title))

    async def _about(self, card: str, title: str) -> None:
        try:
            text = await self._screen.about(card)
        except HermesError as error:
            self.notice(fault(error), error=True)
            return
        self.app.push_screen(_Text(one_line(title, 100), text or "There is no more to say."))

    def action_keys(self) -> None:
        """All keys, where they do not fit in a line."""
        keys = [*_KEYS, *((one.key, one_line(one.does, 100)) for one in self._screen.keys), ("Esc", "close")]
        self.app.push_screen(_Text("Keys", "\n".join(f"{key:<18}{does}" for key, does in keys)))


class _Text(Dialog[None]):
    """Text to read."""

    AUTO_FOCUS = ""
    HINTS: ClassVar[Sequence[Hint]] = (Hint("Esc", "close", "cancel"), Hint("↑↓ PgUp PgDn", "read"))
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "scroll(-1)", show=False),
        Binding("down", "scroll(1)", show=False),
        Binding("pageup", "scroll(-10)", show=False),
        Binding("pagedown", "scroll(10)", show=False),
        Binding("q,enter", "cancel", show=False),
    ]

    def __init__(self, title: str, text: str) -> None:
        super().__init__()
        self._title, self._text = title, text

    def body(self) -> ComposeResult:
        """The text."""
        yield Sheet([Writing(clean(self._text).rstrip("\n"), bare=True)])

    def on_mount(self) -> None:
        """Say what it is about."""
        self.set_title(self._title)

    def action_scroll(self, lines: int) -> None:
        """Read on, or back."""
        self.query_one(Sheet).scroll_relative(y=lines, animate=False)


class ScreenPicker(Picker[Screen | None]):
    """The screens that plugins bring. Ends with one of them, or None."""

    TITLE_TEXT = "Screens of plugins"
    PLACEHOLDER = "Type to find a screen"
    EMPTY = "No enabled plugin brings a screen."
    HINTS: ClassVar[Sequence[Hint]] = (Hint("Enter", "open"), Hint("Esc", "close", "cancel"))

    def __init__(self, screens: Mapping[str, Sequence[Screen]]) -> None:
        super().__init__()
        self._screens = {f"/{name} {one.name}": one for name, there in screens.items() for one in there}

    def on_mount(self) -> None:
        """Show all."""
        self.narrow()

    def narrow(self) -> None:
        """Those that fit."""
        fits = [name for name, one in self._screens.items() if matches(self.words, name, one.title)]
        self.rows.show([Row(name, partial(_drawn, name, self._screens[name].title)) for name in fits])

    @on(Rows.Chosen)
    def _picked(self) -> None:
        if self.rows.current is not None:
            self.finish(self._screens[self.rows.current.id])


def _drawn(name: str, title: str, width: int) -> Content:
    return columns(width, (Content.styled(one_line(title, 60), "bold"), 30), (Content.styled(name, "$text-muted"), 0))
