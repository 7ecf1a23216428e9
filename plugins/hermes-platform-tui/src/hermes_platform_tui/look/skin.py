"""A skin: colours, words and signs that belong together."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import attrs

from hermes_core.patterns import pattern
from hermes_core.values import frozen
from hermes_platform_tui.look import palette

if TYPE_CHECKING:
    from textual.theme import Theme

__all__ = ["UNSAFE", "Branding", "Skin", "Spinner"]

UNSAFE = pattern(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
)
"""Characters that a terminal obeys, or that turn the order of what is read."""


@frozen
class Spinner:
    """What moves while the agent works."""

    frames: tuple[str, ...] = ()
    faces: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ("thinking",)
    wings: tuple[tuple[str, str], ...] = ()


@frozen
class Branding:
    """The words around a conversation."""

    agent_name: str = "Hermes"
    welcome: str = "Type a message, or / for commands."
    goodbye: str = "Goodbye."
    response_label: str = "Hermes"
    prompt_symbol: str = "❯"
    help_header: str = "Commands"


@frozen
class Skin:
    """One skin. ``given`` are the colours it or its parents name; ``colors`` has all of them."""

    name: str
    description: str
    dark: bool
    given: Mapping[str, str] = attrs.field(repr=False)
    spinner: Spinner = Spinner()
    branding: Branding = Branding()
    tool_prefix: str = "┊"
    tool_emojis: Mapping[str, str] = attrs.field(factory=dict, repr=False)
    colourless: bool = False

    @property
    def colors(self) -> dict[str, str]:
        """Every colour by name, as ``#rrggbb``."""
        return palette.complete(self.given)

    def theme(self) -> "Theme":
        """The skin as a theme for ``App.register_theme``."""
        from textual.theme import Theme

        if self.colourless:
            return _colourless(self.name, self.dark)
        colours = self.colors
        return Theme(
            name=self.name,
            dark=self.dark,
            primary=colours["primary"],
            secondary=colours["secondary"],
            accent=colours["accent"],
            success=colours["success"],
            warning=colours["warning"],
            error=colours["error"],
            foreground=colours["foreground"],
            background=colours["background"],
            surface=colours["surface"],
            panel=colours["panel"],
            variables=palette.variables(colours),
        )

    def plain(self) -> "Skin":
        """The skin for a terminal that has neither colours of ours nor signs beyond ASCII."""
        branding = attrs.asdict(self.branding)
        words = {key: _ascii(value, getattr(_PLAIN, key)) for key, value in branding.items()}
        verbs = tuple(verb for verb in self.spinner.verbs if verb.isascii())
        return attrs.evolve(
            self,
            spinner=Spinner(frames=("|", "/", "-", "\\"), verbs=verbs or ("thinking",)),
            branding=Branding(**words),
            tool_prefix="|",
            tool_emojis={},
            colourless=True,
        )


_PLAIN = Branding(prompt_symbol=">")


def _ascii(text: str, otherwise: str) -> str:
    return text if text.isascii() else otherwise


def _colourless(name: str, dark: bool) -> "Theme":
    """The terminal's own two colours; what stands out is turned around, bold or underlined."""
    from textual.theme import Theme

    own = "ansi_default"
    theme = Theme(
        name=name, dark=dark, ansi=True, primary=own, foreground=own, background=own, surface=own, panel=own, boost=own
    )
    ink, paper = ("ansi_black", "ansi_white") if dark else ("ansi_white", "ansi_black")
    theirs = {
        key: own if value.startswith("ansi_") else value
        for key, value in theme.to_color_system().generate().items()
        if not key.endswith("-style")
    }
    ours = {key.replace("_", "-"): own for key in palette.NAMES}
    turned = {
        "ansi-background": own,
        "ansi-foreground": own,
        "block-cursor-text-style": "reverse",
        "block-cursor-blurred-text-style": "underline",
        "input-cursor-text-style": "reverse",
        "input-selection-background": paper,
        "input-selection-foreground": ink,
        "screen-selection-background": paper,
        "screen-selection-foreground": ink,
    }
    theme.variables = theirs | ours | turned
    return theme
