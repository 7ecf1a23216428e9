"""The colours a skin names, what each falls back to, and the theme variables they become."""

from collections.abc import Mapping

from hermes_platform_tui.look.colour import Rgb, legible

__all__ = ["ALIASES", "BASE", "DERIVED", "NAMES", "PAIRS", "RULES", "complete", "variables"]

BASE = (
    "background",
    "surface",
    "panel",
    "foreground",
    "muted",
    "primary",
    "secondary",
    "accent",
    "success",
    "warning",
    "alert",
    "error",
    "border",
    "selection",
)
"""What every skin has, its own or inherited."""

DERIVED = {
    "focus": "primary",
    "selection_text": "foreground",
    "prompt": "accent",
    "input_rule": "border",
    "response_border": "primary",
    "user": "secondary",
    "thinking": "muted",
    "tool": "secondary",
    "link": "primary",
    "code": "accent",
    "code_background": "surface",
    "diff_added": "success",
    "diff_removed": "error",
    "status_background": "panel",
    "status_text": "foreground",
    "status_strong": "primary",
    "status_muted": "muted",
    "status_good": "success",
    "status_warning": "warning",
    "status_bad": "alert",
    "status_critical": "error",
    "session_label": "accent",
    "session_border": "border",
    "voice_background": "panel",
    "menu_background": "panel",
    "menu_text": "foreground",
    "menu_muted": "muted",
    "menu_current_background": "primary",
    "menu_current_text": "background",
    "menu_current_muted": "background",
}
"""A colour that is not given is that of its source."""

_TINTED = {"diff_added_background": "diff_added", "diff_removed_background": "diff_removed"}
_TINT = 0.12

NAMES = (*BASE, *DERIVED, *_TINTED)

ALIASES = {
    "text": "foreground",
    "banner_border": "border",
    "banner_title": "primary",
    "banner_accent": "accent",
    "banner_dim": "muted",
    "banner_text": "foreground",
    "ui_accent": "accent",
    "ui_label": "secondary",
    "ui_ok": "success",
    "ui_error": "error",
    "ui_warn": "warning",
    "selection_bg": "selection",
    "status_bar_bg": "status_background",
    "status_bar_text": "status_text",
    "status_bar_strong": "status_strong",
    "status_bar_dim": "status_muted",
    "status_bar_good": "status_good",
    "status_bar_warn": "status_warning",
    "status_bar_bad": "status_bad",
    "status_bar_critical": "status_critical",
    "voice_status_bg": "voice_background",
    "completion_menu_bg": "menu_background",
    "completion_menu_current_bg": "menu_current_background",
    "completion_menu_meta_bg": "menu_background",
    "completion_menu_meta_current_bg": "menu_current_background",
}
"""Names that skins written elsewhere use for the same things."""

_ON_ANY = ("foreground", "muted", "primary", "secondary", "accent", "success", "warning", "alert", "error")
_STATUS = ("text", "strong", "muted", "good", "warning", "bad", "critical")
_REST = ("prompt", "user", "thinking", "tool", "link", "session_label")

PAIRS = (
    *((name, behind) for behind in ("background", "surface", "panel", "selection") for name in _ON_ANY),
    *((name, behind) for behind in ("background", "surface") for name in _REST),
    *((f"status_{name}", "status_background") for name in _STATUS),
    *(("background", name) for name in ("status_critical", "primary", "success", "warning", "error")),
    ("selection_text", "selection"),
    ("code", "code_background"),
    ("diff_added", "diff_added_background"),
    ("diff_removed", "diff_removed_background"),
    ("foreground", "diff_added_background"),
    ("foreground", "diff_removed_background"),
    ("foreground", "voice_background"),
    ("menu_text", "menu_background"),
    ("menu_muted", "menu_background"),
    ("menu_current_text", "menu_current_background"),
    ("menu_current_muted", "menu_current_background"),
)
"""What is read, on what: each pair keeps the contrast of text."""

RULES = tuple(
    (name, behind)
    for name in ("border", "focus", "input_rule", "response_border", "session_border")
    for behind in ("background", "surface", "panel")
)
"""What is drawn, on what: each pair keeps the contrast of a border."""


def complete(given: Mapping[str, str]) -> dict[str, str]:
    """Every colour of a skin, from those that it or its parents give."""
    colours = {name: given[name] for name in BASE}
    for name, source in DERIVED.items():
        colours[name] = given.get(name) or colours[source]
    for name, source in _TINTED.items():
        behind, tint = Rgb.parse(colours["background"]), Rgb.parse(colours[source])
        colours[name] = given.get(name) or behind.blend(tint, _TINT).hex
    return colours


def variables(colours: Mapping[str, str]) -> dict[str, str]:
    """Theme variables: all of ours with hyphens, and Textual's own where its defaults are hard to read."""
    ours = {name.replace("_", "-"): value for name, value in colours.items()}
    get = colours.__getitem__
    behind = [Rgb.parse(get(name)) for name in ("background", "surface", "panel")]
    worst = max(behind, key=lambda c: c.luminance) if behind[0].dark else min(behind, key=lambda c: c.luminance)

    def muted_of(name: str) -> str:
        return Rgb.parse(get("background")).blend(Rgb.parse(get(name)), 0.18).hex

    def text_of(name: str) -> str:
        colour = legible(Rgb.parse(get(name)), worst)
        return legible(colour, Rgb.parse(muted_of(name))).hex

    roles = ("primary", "secondary", "accent", "success", "warning", "error")
    textual = {
        **{f"text-{role}": text_of(role) for role in roles},
        **{f"{role}-muted": muted_of(role) for role in roles},
        "text-muted": get("muted"),
        "foreground-muted": get("muted"),
        "border": get("focus"),
        "border-blurred": get("border"),
        "block-cursor-background": get("menu_current_background"),
        "block-cursor-foreground": get("menu_current_text"),
        "block-cursor-text-style": "bold",
        "block-cursor-blurred-background": get("selection"),
        "block-cursor-blurred-foreground": get("selection_text"),
        "block-hover-background": get("surface"),
        "button-color-foreground": get("background"),
        "button-foreground": get("foreground"),
        "footer-background": get("status_background"),
        "footer-foreground": get("status_text"),
        "footer-key-foreground": get("status_strong"),
        "footer-description-foreground": get("status_muted"),
        "input-cursor-background": get("foreground"),
        "input-cursor-foreground": get("background"),
        "input-selection-background": get("selection"),
        "input-selection-foreground": get("selection_text"),
        "screen-selection-background": get("selection"),
        "screen-selection-foreground": get("selection_text"),
        "link-color": get("link"),
        "link-background-hover": get("menu_current_background"),
        "link-color-hover": get("menu_current_text"),
        "markdown-h1-color": get("primary"),
        "markdown-h2-color": get("primary"),
        "markdown-h3-color": get("secondary"),
        "markdown-h4-color": get("foreground"),
        "markdown-h5-color": get("foreground"),
        "markdown-h6-color": get("muted"),
        "scrollbar": get("border"),
        "scrollbar-hover": get("primary"),
        "scrollbar-active": get("accent"),
        "scrollbar-background": get("background"),
        "scrollbar-background-hover": get("background"),
        "scrollbar-background-active": get("background"),
        "scrollbar-corner-color": get("background"),
    }
    # "border" is the focused one in Textual, and ours is the quiet one: Textual's meaning wins.
    return ours | textual
