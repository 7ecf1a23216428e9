"""The part of the app that wears skins: chosen, tried on, and changed when the terminal turns light or dark."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from textual.filter import Monochrome

from hermes_core.errors import UserError
from hermes_platform_tui.config import Config
from hermes_platform_tui.look.colour import Rgb
from hermes_platform_tui.look.colourless import Colourless
from hermes_platform_tui.look.driver import BackgroundSeen
from hermes_platform_tui.look.skin import Skin
from hermes_platform_tui.look.statusbar import StatusBar
from hermes_platform_tui.look.themes import Skins, chosen, load_skins, variable_defaults

if TYPE_CHECKING:
    from textual.app import App

    _App = App[int]
else:
    _App = object

__all__ = ["Wardrobe"]


class Wardrobe(_App):
    """Knows the skins there are. ``skin`` is the one that is worn, ``problems`` what is wrong with others."""

    def prepare_wardrobe(self, config: Config, home: Path) -> None:
        """Before the first frame: read the skins, and see which one it is."""
        self._wish = config.skin
        self._background: Rgb | None = None
        self._skins: Skins = load_skins(home)
        self.problems: list[str] = list(self._skins.problems)
        self.skin: Skin = self._skins.get(self._wished())
        if (why := self._skins.explain(self._wished())) and why not in self.problems:
            self.problems.append(why)
        # Set as it begins: a theme that changes on a running screen has all styles read again. Only this one is made.
        if os.environ.get("NO_COLOR"):
            self.skin = self.skin.plain()
        self.register_theme(self.skin.theme())
        self.set_reactive(type(self).theme, self.skin.name)
        self.set_class(self.skin.dark, "-dark-mode", update=False)
        self.set_class(not self.skin.dark, "-light-mode", update=False)
        self.stylesheet.set_variables(self.get_css_variables())
        # Textual chose its filters for a theme of its own.
        self._refresh_truecolor_filter(self.ansi_theme)
        self._filters = [Colourless() if isinstance(one, Monochrome) else one for one in self._filters]

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Our variables, for themes that are not ours."""
        return variable_defaults()

    def skin_rows(self) -> Sequence[tuple[str, str]]:
        """Every skin with what it is like."""
        return [(skin.name, skin.description) for skin in self._skins]

    def wear(self, name: str) -> None:
        """Wear a skin until another is chosen. Raises UserError when there is none of this name."""
        self.check_skin(name)
        self._wish = name
        self._put_on(self._skins.get(name))

    def check_skin(self, name: str) -> None:
        """Raises UserError when there is no skin of this name."""
        if why := self._skins.explain(name):
            raise UserError(f"{why.rstrip('.')}.")

    def try_on(self, name: str) -> None:
        """Wear it for a look."""
        self._put_on(self._skins.get(name))

    def on_background_seen(self, event: BackgroundSeen) -> None:
        """The terminal told its background."""
        self._background = event.colour
        skin = self._skins.get(self._wished())
        if skin.name != self.skin.name:
            self._put_on(skin)

    def _wished(self) -> str:
        return chosen(self._wish, os.environ, self._background, getattr(self, "_skins", None))

    def _put_on(self, skin: Skin) -> None:
        skin = skin.plain() if os.environ.get("NO_COLOR") else skin
        self.skin = skin
        self.register_theme(skin.theme())
        self.theme = skin.name
        for bar in self.query(StatusBar):
            bar.spinner = skin.spinner
