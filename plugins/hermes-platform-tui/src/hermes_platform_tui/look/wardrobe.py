"""Skins, as an app wears them: chosen, tried on, and changed when the terminal turns light or dark."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from textual.filter import Monochrome

from hermes_core.errors import UserError
from hermes_platform_tui.config import Config
from hermes_platform_tui.look.colour import Rgb
from hermes_platform_tui.look.colourless import Colourless
from hermes_platform_tui.look.skin import Skin
from hermes_platform_tui.look.statusbar import StatusBar
from hermes_platform_tui.look.themes import Skins, chosen, load_skins

if TYPE_CHECKING:
    from textual.app import App

__all__ = ["Wardrobe"]


class Wardrobe:
    """The skins that an app may wear. ``skin`` is the one that it wears, ``problems`` what is wrong with others."""

    def __init__(self, app: "App[int]", config: Config, home: Path) -> None:
        """Before the first frame: read the skins, and see which one it is."""
        self._app, self._chosen = app, config.skin
        self._background: Rgb | None = None
        self._skins: Skins = load_skins(home)
        self.problems: list[str] = list(self._skins.problems)
        self.skin: Skin = self._skins.get(self._wanted())
        if (why := self._skins.explain(self._wanted())) and why not in self.problems:
            self.problems.append(why)
        # Set as it begins: a theme that changes on a running screen has all styles read again. Only this one is made.
        if os.environ.get("NO_COLOR"):
            self.skin = self.skin.plain()
        app.register_theme(self.skin.theme())
        app.set_reactive(type(app).theme, self.skin.name)
        app.set_class(self.skin.dark, "-dark-mode", update=False)
        app.set_class(not self.skin.dark, "-light-mode", update=False)
        app.stylesheet.set_variables(app.get_css_variables())
        # Textual chose its filters for a theme of its own.
        app._refresh_truecolor_filter(app.ansi_theme)
        app._filters = [Colourless() if isinstance(one, Monochrome) else one for one in app._filters]

    def rows(self) -> Sequence[tuple[str, str]]:
        """Every skin with what it is like."""
        return [(skin.name, skin.description) for skin in self._skins]

    def wear(self, name: str) -> None:
        """Wear a skin until another is chosen. Raises UserError when there is none of this name."""
        self.check(name)
        self._chosen = name
        self._put_on(self._skins.get(name))

    def check(self, name: str) -> None:
        """Raises UserError when there is no skin of this name."""
        if why := self._skins.explain(name):
            raise UserError(f"{why.rstrip('.')}.")

    def try_on(self, name: str) -> None:
        """Wear it for a look."""
        self._put_on(self._skins.get(name))

    def seen_on(self, background: Rgb | None) -> None:
        """Fit the terminal's background, which it told."""
        self._background = background
        skin = self._skins.get(self._wanted())
        if skin.name != self.skin.name:
            self._put_on(skin)

    def _wanted(self) -> str:
        return chosen(self._chosen, os.environ, self._background, self._skins)

    def _put_on(self, skin: Skin) -> None:
        skin = skin.plain() if os.environ.get("NO_COLOR") else skin
        self.skin = skin
        self._app.register_theme(skin.theme())
        self._app.theme = skin.name
        for bar in self._app.query(StatusBar):
            bar.spinner = skin.spinner
