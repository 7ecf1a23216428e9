"""What moves while the agent works, in four styles."""

from collections.abc import Sequence
from typing import Literal

from textual.content import Content

from hermes_platform_tui.look.skin import Spinner

__all__ = ["IDLE", "STYLES", "Style", "frames", "verb"]

Style = Literal["unicode", "ascii", "emoji", "kaomoji"]
STYLES: tuple[Style, ...] = ("unicode", "ascii", "emoji", "kaomoji")

_FRAMES: dict[Style, tuple[str, ...]] = {
    "unicode": ("⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"),
    "ascii": ("|", "/", "-", "\\"),
    "emoji": ("🌑", "🌒", "🌓", "🌔", "🌕", "🌖", "🌗", "🌘"),
    "kaomoji": ("(•_•)", "(•_•)", "( •_•)", "(•_• )", "(-_-)", "(•_•)", "(°_°)", "(^_^)"),
}
IDLE: dict[Style, str] = {"unicode": "●", "ascii": "*", "emoji": "💤", "kaomoji": "(-_-)"}
_PACE: dict[Style, int] = {"unicode": 1, "ascii": 1, "emoji": 2, "kaomoji": 4}
_VERB_TICKS = 60


def frames(style: Style, spinner: Spinner) -> tuple[str, ...]:
    """The pictures in turn, one for each tick, all equally wide. A skin's own are used where their style is."""
    own: Sequence[str] = ()
    if style == "unicode":
        own = spinner.frames
    elif style == "kaomoji":
        own = spinner.faces
    elif style == "ascii" and all(frame.isascii() for frame in spinner.frames):
        own = spinner.frames
    pictures = own or _FRAMES[style]
    if spinner.wings and style in {"unicode", "kaomoji"}:
        pictures = [f"{left}{face}{right}" for face in pictures for left, right in spinner.wings[:1]]
    cells = [Content(picture).cell_length for picture in pictures]
    widest = max(cells)
    even = [picture + " " * (widest - width) for picture, width in zip(pictures, cells, strict=True)]
    return tuple(picture for picture in even for _ in range(_PACE[style]))


def verb(tick: int, spinner: Spinner) -> str:
    """What the agent is said to be doing. It changes now and then, and never twice a second."""
    verbs = spinner.verbs or ("thinking",)
    return verbs[tick // _VERB_TICKS % len(verbs)]
