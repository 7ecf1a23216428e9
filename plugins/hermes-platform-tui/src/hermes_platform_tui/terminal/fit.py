"""Whether the full screen fits the terminal, and what the terminal can do: told by the environment alone.

Nothing is asked of the terminal itself: an answer that comes late would be typed into the person's message.
"""

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from hermes_core.values import frozen

if TYPE_CHECKING:
    from typing import Any

__all__ = ["HEIGHT", "WIDTH", "Capabilities", "Colours", "Images", "unfit"]

WIDTH, HEIGHT = 40, 12
Colours = Literal["none", "16", "256", "true"]
Images = Literal["kitty", "sixel", "iterm2", "none"]

_PLAIN = "Use the plain conversation: hermes --cli"
# Pictures are drawn with kitty's placeholders, which only these know.
_KITTY = ("kitty", "ghostty")
_SIXEL = ("foot", "wezterm", "mlterm", "contour", "yaft", "mintty", "konsole")
_TRUE = ("kitty", "ghostty", "wezterm", "foot", "alacritty", "iterm", "contour", "direct", "truecolor", "24bit", "warp")


def size() -> tuple[int, int]:
    """Columns and rows of the terminal of this process; 0 and 0 where it has none."""
    try:
        return tuple(os.get_terminal_size(sys.__stdout__.fileno()))  # type: ignore[return-value,union-attr]
    except (OSError, ValueError, AttributeError):
        return 0, 0


def unfit(stdin: "Any", stdout: "Any", environ: Mapping[str, str], size: tuple[int, int]) -> str:
    """Why the full screen cannot be shown here and what to do instead; empty when it can.

    The streams are those of the process; one that was closed is None. ``size`` is columns and rows.
    """
    if environ.get("TEXTUAL_DRIVER"):  # a browser shows it: `hermes web`
        return ""
    if not _is_terminal(stdin) or not _is_terminal(stdout):
        which = "Input" if not _is_terminal(stdin) else "Output"
        return f"{which} is not a terminal, so there is no screen to fill. {_PLAIN}, or ask once: hermes -z TEXT"
    term = environ.get("TERM", "")
    if not term or term in ("dumb", "unknown"):
        said = f"says it is {term!r}" if term else "does not say what it is (TERM is not set)"
        return f"This terminal {said}, so it may not know how to place text. {_PLAIN}"
    columns, rows = size
    if columns and rows and (columns < WIDTH or rows < HEIGHT):
        return (
            f"This terminal is {columns}×{rows}; the full screen needs {WIDTH}×{HEIGHT}. Make it larger, or "
            f"{_PLAIN[0].lower()}{_PLAIN[1:]}"
        )
    return ""


def _is_terminal(stream: "Any") -> bool:
    try:
        return bool(stream is not None and stream.isatty())
    except (OSError, ValueError):
        return False


@frozen(kw_only=True)
class Capabilities:
    """What a terminal can do. ``remote``: the person sits at another machine than this process."""

    colours: Colours
    images: Images
    hyperlinks: bool
    unicode: bool
    remote: bool
    multiplexed: bool

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> "Capabilities":
        """What the environment tells."""
        multiplexed = _multiplexed(environ)
        colours = _colours(environ)
        return cls(
            colours=colours,
            images="none" if multiplexed or colours == "none" else _images(environ),
            hyperlinks=_hyperlinks(environ),
            unicode=_unicode(environ),
            remote=any(environ.get(name) for name in ("SSH_TTY", "SSH_CONNECTION", "SSH_CLIENT", "TEXTUAL_DRIVER")),
            multiplexed=multiplexed,
        )


def _multiplexed(environ: Mapping[str, str]) -> bool:
    term = environ.get("TERM", "")
    named = any(environ.get(name) for name in ("TMUX", "STY", "ZELLIJ"))
    return named or term.startswith(("tmux", "screen"))


def _names(environ: Mapping[str, str]) -> str:
    """What the terminal calls itself, in all the places where it does."""
    names = (environ.get(name, "") for name in ("TERM", "TERM_PROGRAM", "LC_TERMINAL"))
    return " ".join(names).lower()


def _colours(environ: Mapping[str, str]) -> Colours:
    term = environ.get("TERM", "")
    if environ.get("NO_COLOR") or term in ("", "dumb", "unknown") or term.startswith(("vt", "ansi-m")):
        return "none"
    if environ.get("COLORTERM", "").lower() in ("truecolor", "24bit") or environ.get("WT_SESSION"):
        return "true"
    if environ.get("TEXTUAL_COLOR_SYSTEM") == "truecolor" or any(name in _names(environ) for name in _TRUE):
        return "true"
    if "256" in term or environ.get("TERM_PROGRAM") or term.startswith(("tmux", "xterm")):
        return "256"
    return "16"


def _images(environ: Mapping[str, str]) -> Images:
    names = _names(environ)
    if environ.get("TEXTUAL_DRIVER"):
        return "none"
    if environ.get("KITTY_WINDOW_ID") or environ.get("GHOSTTY_RESOURCES_DIR") or any(name in names for name in _KITTY):
        return "kitty"
    if environ.get("ITERM_SESSION_ID") or "iterm" in names:
        return "iterm2"
    if environ.get("WEZTERM_EXECUTABLE") or environ.get("KONSOLE_VERSION") or any(name in names for name in _SIXEL):
        return "sixel"
    return "none"


def _hyperlinks(environ: Mapping[str, str]) -> bool:
    term = environ.get("TERM", "")
    if term in ("", "dumb", "unknown", "linux") or term.startswith(("vt", "screen")) or environ.get("STY"):
        return False
    if environ.get("TERM_PROGRAM") == "Apple_Terminal":
        return False
    vte = environ.get("VTE_VERSION", "")
    return not (vte.isascii() and vte.isdigit() and int(vte) < 5000)


def _unicode(environ: Mapping[str, str]) -> bool:
    said = environ.get("LC_ALL") or environ.get("LC_CTYPE") or environ.get("LANG") or ""
    if not said:
        return sys.platform == "darwin" or environ.get("PYTHONUTF8") == "1"
    return "utf8" in said.lower().replace("-", "")
