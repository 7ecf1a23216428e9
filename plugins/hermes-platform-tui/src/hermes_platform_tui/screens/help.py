"""All keys and commands, searchable."""

from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from textual import on
from textual.content import Content

from hermes_core.types import SlashCommand
from hermes_platform_tui.screens.dialog import Hint
from hermes_platform_tui.screens.picker import Picker, matches
from hermes_platform_tui.screens.rows import Row, Rows, columns, heading
from hermes_platform_tui.screens.shown import one_line

__all__ = ["HelpScreen"]

_COMMANDS = "Commands"


class HelpScreen(Picker[str | None]):
    """Ends with the command that was chosen, such as ``/model``, to be put into the composer; or None."""

    TITLE_TEXT = "Help"
    PLACEHOLDER = "Type to find a key or command"
    HINTS: ClassVar[Sequence[Hint]] = (
        Hint("Esc", "close", "cancel"),
        Hint("Enter", "use a command"),
        Hint("↑↓ PgUp PgDn", "move"),
    )

    def __init__(self, commands: Sequence[SlashCommand], keys: Sequence[tuple[str, str, str]]) -> None:
        super().__init__()
        self._commands, self._keys = commands, keys

    def on_mount(self) -> None:
        """Show all of it."""
        self.narrow()

    def narrow(self) -> None:
        """Keys by group, then commands."""
        groups: dict[str, list[Row]] = {}
        for number, (key, what, group) in enumerate(self._keys):
            if not self.words or matches(self.words, key, what, group):
                draw = partial(_draw, one_line(key, 40), one_line(what, 300), "")
                groups.setdefault(one_line(group, 60), []).append(Row(f"key {number}", draw))
        for command in sorted(self._commands, key=lambda one: one.name):
            also = ", ".join(f"/{alias}" for alias in command.aliases)
            usage = " ".join(filter(None, (command.usage, f"also {also}" if also else "")))
            if not self.words or matches(self.words, f"/{command.name}", command.summary, usage):
                draw = partial(
                    _draw, f"/{one_line(command.name, 40)}", one_line(command.summary, 300), one_line(usage, 200)
                )
                groups.setdefault(_COMMANDS, []).append(Row(f"/{command.name}", draw))
        rows: list[Row] = []
        for group, members in groups.items():
            rows += [heading(" ", f"gap {group}")] if rows else []
            rows += [heading(Content.styled(group, "bold $text-primary"), f"group {group}"), *members]
        self.rows.show(rows)

    @on(Rows.Chosen)
    def _chosen(self, event: Rows.Chosen) -> None:
        if event.row.id.startswith("/"):
            self.finish(event.row.id)


def _draw(name: str, what: str, usage: str, width: int) -> Content:
    wide = 24 if width >= 90 else 18 if width >= 50 else 12
    text = Content.assemble(what, "  ", (usage, "$text-muted")) if usage else Content(what)
    return columns(width, (Content.styled(name, "bold"), max(wide, len(name)) if width >= 50 else wide), (text, 0))
