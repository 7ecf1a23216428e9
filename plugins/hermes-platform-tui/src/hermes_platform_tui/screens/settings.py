"""The settings, as the classes of options declare them; written as soon as they are chosen."""

from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError
from hermes_core.types import Setting
from hermes_platform_tui.screens.dialog import Hint, begin
from hermes_platform_tui.screens.picker import Picker, matches
from hermes_platform_tui.screens.rows import Row, Rows, columns, heading
from hermes_platform_tui.screens.shown import clean, fault, one_line
from hermes_platform_tui.screens.value import ValueDialog, form_of, shown, text_of

__all__ = ["SettingsScreen"]

_WHERE = "written to config.yaml; holds from the next start"
_GENERAL = "general"


class SettingsScreen(Picker[None]):
    """Every setting by its section. Nothing is held back for later: what is chosen is written."""

    TITLE_TEXT = "Settings"
    PLACEHOLDER = "Type to find a setting"
    HINTS: ClassVar[Sequence[Hint]] = (
        Hint("Enter", "change", "change"),
        Hint("Esc", "close", "cancel"),
        Hint("^R", "default", "reset"),
        Hint("Tab", "sections"),
        Hint("F5", "read again", "again"),
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+r", "reset", show=False),
        Binding("f5", "again", show=False),
    ]
    DEFAULT_CSS = """
    SettingsScreen {
        & #sections { display: none; width: 24; margin-right: 1; border-right: solid $primary; }
        &.-medium #sections, &.-wide #sections { display: block; }
        &.-short #sections, &.-narrow #sections { display: none; }
        & #about { height: 3; margin-top: 1; color: $text-muted; }
        &.-short #about { height: 2; margin-top: 0; }
        & #listed { width: 1fr; }
    }
    """

    def __init__(self, ctx: PluginContext, *, section: str = "") -> None:
        super().__init__()
        self._ctx, self._begin = ctx, section
        self._known: dict[str, Setting] = {}

    def body(self) -> ComposeResult:
        """Sections and settings, and below them what the current one is."""
        yield from super().body()
        yield Static("", id="about", markup=False)

    def aside(self) -> ComposeResult:
        """The sections; they stand on the left."""
        yield Rows("sections", classes="-apart")

    def on_mount(self) -> None:
        """Read them."""
        beside = self.query_one("#beside")
        beside.move_child(self.query_one("#sections"), before=self.query_one("#listed", Vertical))
        self.say_empty("Reading …")
        self.action_again()

    def action_again(self) -> None:
        """Read them again: somebody else may have changed the file."""
        begin(self, "read", self._read)

    async def _read(self) -> None:
        try:
            self._known = {row.key: row for row in await self._ctx.settings.list()}
        except HermesError as error:
            self.notice(fault(error), error=True)
            self.say_empty("The settings could not be read.")
            return
        self.say_empty(self.EMPTY)
        sections = list(dict.fromkeys(section_of(key) for key in self._known))
        self.query_one("#sections", Rows).show([_section_row(name, sections) for name in sections])
        self.narrow()
        if self._begin:
            self._jump(self._begin)
            self._begin = ""

    # what is shown

    def narrow(self) -> None:
        """What fits, each section with a heading."""
        rows: list[Row] = []
        section = None
        for key, row in self._known.items():
            if self.words and not matches(self.words, key, row.help):
                continue
            if section_of(key) != section:
                section = section_of(key)
                rows += [heading(" ", f"gap {section} {key}")] if rows else []
                rows.append(heading(Content.styled(section, "bold $text-primary"), f"section {section} {key}"))
            rows.append(Row(key, partial(_draw, row)))
        self.rows.show(rows)
        self._tell()

    @on(Rows.Moved, "#rows")
    def _moved(self) -> None:
        self._tell()

    def _tell(self) -> None:
        row = self._known.get(self.rows.current.id) if self.rows.current else None
        self.query_one("#about", Static).update(_about(row) if row else Content(""))
        if row and not self.query_one("#sections", Rows).has_focus:
            sections = self.query_one("#sections", Rows)
            place = next((at for at, one in enumerate(sections.shown) if one.id == section_of(row.key)), None)
            with sections.prevent(Rows.Moved):
                sections.go(place)

    @on(Rows.Moved, "#sections")
    def _section(self, event: Rows.Moved) -> None:
        if event.row is not None and event.rows.has_focus:
            self._jump(event.row.id)

    @on(Rows.Chosen, "#sections")
    def _into(self, event: Rows.Chosen) -> None:
        self._jump(event.row.id)
        self.rows.focus()

    def _jump(self, section: str) -> None:
        rows = self.rows.shown
        place = next(
            (at for at, row in enumerate(rows) if row.choosable and _inside(section_of(row.id), section)), None
        )
        if place is not None:
            self.rows.go(self.rows.shown.__len__() - 1)
            self.rows.go(place)

    # what can be done

    @on(Rows.Chosen, "#rows")
    def action_change(self) -> None:
        """Turn a switch over; ask for anything else."""
        row = self._known.get(self.rows.current.id) if self.rows.current else None
        if row is None:
            return
        if form_of(row) == "switch" and not row.locked:
            begin(self, "write", partial(self._put, row.key, "false" if row.value else "true"), alone=False)
        else:
            self.app.push_screen(ValueDialog(row, self._write))

    async def _put(self, key: str, text: str | None) -> None:
        await self._write(key, text)

    async def _write(self, key: str, text: str | None) -> str:
        """Write it, or take it back to the default. Says what is wrong, or nothing."""
        settings = self._ctx.settings
        try:
            row = await (settings.unset(key) if text is None else settings.set(key, text))
        except HermesError as error:
            self.notice(fault(error), error=True)
            return fault(error)
        self._known[key] = row
        self.narrow()
        self.notice(self._written(key))
        return ""

    def _written(self, key: str) -> str:
        row = self._known[key]
        return (
            f"{key} is {one_line(shown(row), 60)}: {_WHERE}."
            if row.written
            else f"{key} is the default again: {_WHERE}."
        )

    def action_reset(self) -> None:
        """Take the current one back to its default."""
        row = self._known.get(self.rows.current.id) if self.rows.current else None
        if row is None:
            return
        if row.locked:
            self.notice(f"{row.key} is locked by {row.locked}; it cannot be changed.", error=True)
        elif not row.written:
            self.notice(f"{row.key} is the default already.")
        else:
            begin(self, "write", partial(self._put, row.key, None), alone=False)


def section_of(key: str) -> str:
    """Where a setting is listed: what stands before its last dot, two steps at most."""
    return ".".join(key.split(".")[:-1][:2]) or _GENERAL


def _inside(section: str, other: str) -> bool:
    return section == other or section.startswith(f"{other}.")


def _section_row(name: str, sections: Sequence[str]) -> Row:
    parent, _, last = name.rpartition(".")
    text = f"  {last}" if parent in sections else name
    return Row(name, lambda width: Content(one_line(text.lstrip(), 60)).pad_left(len(text) - len(text.lstrip())))


def _draw(row: Setting, width: int) -> Content:
    section = section_of(row.key)
    name = row.key if section == _GENERAL else row.key[len(section) + 1 :]
    state = "locked" if row.locked else "changed" if row.written else ""
    styled = Content.styled(one_line(shown(row), 200), "bold" if row.written else "")
    return columns(
        width, (one_line(name, 60), 24 if width > 60 else 16), (styled, 0), (state, -7 if state else 0), least=10
    )


def _about(row: Setting) -> Content:
    said = [clean(row.help)]
    facts = [f"{row.key}: {row.type}", f"default {one_line(text_of(row.default), 80) or '(empty)'}"]
    if row.secret:
        facts = [f"{row.key}: a secret, never shown here"]
    if row.locked:
        facts.append(f"locked by {row.locked}: it cannot be changed")
    return Content.assemble("\n".join(said), "\n", ("; ".join(one_line(fact, 200) for fact in facts), "$text-muted"))
