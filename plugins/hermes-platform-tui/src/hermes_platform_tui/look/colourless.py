"""What is drawn where no colour is wanted (NO_COLOR)."""

from rich.color import ColorType
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

__all__ = ["Colourless"]

_TURNED = Style(reverse=True)
_PAPER = (0, 7)  # black and white: the ground of what is selected


class Colourless(LineFilter):
    """Writes no colour at all. Textual's own filter makes greys, which a light terminal shows on black.

    What has a ground of its own (a selection) is turned around instead.
    """

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The segments without colours."""
        return [Segment(text, style and _bare(style), control) for text, style, control in segments]


def _bare(style: Style) -> Style:
    ground = style.bgcolor
    turned = ground is not None and ground.type is ColorType.STANDARD and ground.number in _PAPER
    bare = style.without_color
    return bare + _TURNED if turned else bare
