"""What the command palette finds: screens, commands, tabs, skins."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from hermes_platform_tui.markdown.clean import clean
from hermes_platform_tui.screens.palette import Entry

if TYPE_CHECKING:
    from hermes_platform_tui.app import HermesApp

__all__ = ["entries"]

_SCREENS = (
    ("Sessions", "earlier conversations, with search", "sessions"),
    ("Model", "who answers, with prices and context", "models"),
    ("Settings", "everything that can be set", "settings"),
    ("Skins", "other colours", "skins"),
    ("Usage", "what this conversation used", "usage"),
    ("Insights", "what was used over the days", "insights"),
    ("Work", "child agents and processes", "work"),
    ("Screens", "what plugins bring: a board, a calendar", "screens"),
    ("Help", "all commands and keys", "keys"),
)
_ACTIONS = (
    ("New tab", "another conversation beside this one", "new_tab"),
    ("Close tab", "close this conversation's tab", "close_tab"),
    ("Search", "search this conversation", "find"),
    ("Leave", "end the screen", "leave"),
)


def entries(app: "HermesApp") -> Iterator[Entry]:
    """All of it, screens first."""
    for title, summary, name in _SCREENS:
        yield Entry(title, summary, partial(app.overlays.open, name))
    for title, summary, action in _ACTIONS:
        yield Entry(title, summary, _acting(app, action))
    for number, view in enumerate(app.tabs.views, 1):
        if view is not app.view:
            yield Entry(
                f"Tab {number}: {clean(view.facts.title or 'new')}", "look at it", partial(app.tabs.look_at, view)
            )
    for command in app.talks.commands:
        usage = f" {command.usage}" if command.usage else ""
        yield Entry(f"/{command.name}{usage}", command.summary, partial(app.begin, command))
    for name, description in app.wardrobe.rows():
        yield Entry(f"Skin: {name}", description, partial(app.wardrobe.wear, name))


def _acting(app: "HermesApp", action: str) -> Callable[[], object]:
    return getattr(app, f"action_{action}")  # type: ignore[no-any-return]
