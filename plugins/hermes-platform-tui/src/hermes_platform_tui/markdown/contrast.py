"""Colours that can be read: whatever the theme, text has a contrast of at least 4.5 to 1."""

from functools import lru_cache

from textual.color import Color

__all__ = ["ratio", "readable"]

ENOUGH = 4.5
_STEPS = 10


def _luminance(color: Color) -> float:
    parts = (part / 255 for part in color.rgb)
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def ratio(one: Color, other: Color) -> float:
    """The contrast of two colours, from 1 to 21."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@lru_cache(maxsize=512)
def readable(color: Color, ground: Color) -> Color:
    """The colour, or the nearest to it towards black or white that can be read on the ground."""
    if color.ansi is not None or ground.ansi is not None or ground.a < 1:
        return color  # a colour of the terminal's own: nobody knows what it looks like
    color = ground + color if color.a < 1 else color
    if ratio(color, ground) >= ENOUGH:
        return color
    black, white = Color(0, 0, 0), Color(255, 255, 255)
    end = black if ratio(black, ground) > ratio(white, ground) else white
    for step in range(1, _STEPS):
        mixed = color.blend(end, step / _STEPS)
        if ratio(mixed, ground) >= ENOUGH:
            return mixed
    return end
