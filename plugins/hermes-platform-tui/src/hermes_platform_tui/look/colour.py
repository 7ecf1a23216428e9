"""Colours as numbers: how light one is, and whether one can be read on another."""

from hermes_core.patterns import pattern
from hermes_core.values import frozen

__all__ = ["BORDER", "TEXT", "Rgb", "contrast", "legible"]

TEXT = 4.5
"""The least contrast of text with what is behind it (WCAG 2, level AA)."""
BORDER = 3.0
"""The least contrast of a border, which is looked at and not read."""

_HEX = pattern(r"#([0-9a-fA-F]{3}|[0-9a-fA-F]{6})\Z")


@frozen
class Rgb:
    """A colour in three bytes."""

    red: int
    green: int
    blue: int

    @classmethod
    def parse(cls, text: str) -> "Rgb":
        """Read ``#rgb`` or ``#rrggbb``; anything else is a ValueError."""
        found = _HEX.match(text)
        if found is None:
            raise ValueError(f"{text!r} is not a colour like #1e90ff")
        digits = found[1] if len(found[1]) == 6 else "".join(digit * 2 for digit in found[1])
        return cls(*(int(digits[at : at + 2], 16) for at in (0, 2, 4)))

    @property
    def hex(self) -> str:
        """The colour as ``#rrggbb``."""
        return f"#{self.red:02x}{self.green:02x}{self.blue:02x}"

    @property
    def luminance(self) -> float:
        """Light as the eye weighs it, 0 to 1 (WCAG's relative luminance)."""
        parts = [value / 255 for value in (self.red, self.green, self.blue)]
        red, green, blue = (v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    @property
    def dark(self) -> bool:
        """Whether white text is easier to read on it than black text."""
        return contrast(self, _WHITE) >= contrast(self, _BLACK)

    def blend(self, other: "Rgb", share: float) -> "Rgb":
        """This colour with a share, 0 to 1, of another."""
        mine, its = (self.red, self.green, self.blue), (other.red, other.green, other.blue)
        return Rgb(*(round(a + (b - a) * share) for a, b in zip(mine, its, strict=True)))


_WHITE = Rgb(255, 255, 255)
_BLACK = Rgb(0, 0, 0)


def contrast(one: Rgb, other: Rgb) -> float:
    """How far two colours stand apart, 1 to 21."""
    low, high = sorted((one.luminance, other.luminance))
    return (high + 0.05) / (low + 0.05)


def legible(colour: Rgb, behind: Rgb, least: float = TEXT) -> Rgb:
    """The colour, moved no further than needed towards black or white until it can be read."""
    goal = _WHITE if behind.dark else _BLACK
    for step in range(21):
        tried = colour.blend(goal, step / 20)
        if contrast(tried, behind) >= least:
            return tried
    return goal
