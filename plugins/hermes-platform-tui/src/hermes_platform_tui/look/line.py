"""One row of pieces that gives up the least important ones first."""

from collections.abc import Iterable, Sequence

from textual.content import Content

from hermes_core.values import frozen
from hermes_platform_tui.look.skin import UNSAFE

__all__ = ["Piece", "clean", "clip", "fit"]

_GAP = 2
_LONGEST = 1000


@frozen
class Piece:
    """A piece of the row in its wordings, longest first, each with the rank at which it is given up."""

    forms: tuple[tuple[int, Content], ...]
    right: bool = False


def clean(text: str) -> str:
    """Text from outside as one line, without what a terminal obeys."""
    return UNSAFE.sub("", " ".join(text[:_LONGEST].split()))


def clip(text: str, cells: int, mark: str = "…") -> str:
    """Clean text in at most that many cells; what is cut is marked."""
    content = Content(clean(text))
    if content.cell_length <= cells:
        return content.plain
    return content.truncate(cells - 1).plain.rstrip() + mark if cells > 0 else ""


def fit(pieces: Sequence[Piece], width: int) -> Content:
    """The row, exactly ``width`` cells wide: what has the highest rank gives way to its next wording, or goes."""
    shown = [list(piece.forms) for piece in pieces if piece.forms]
    sides = [piece.right for piece in pieces if piece.forms]
    while _cells(forms[0][1] for forms in shown if forms) > width:
        most = max((forms for forms in shown if forms), key=lambda forms: forms[0][0])
        if len(most) == 1 and sum(map(bool, shown)) == 1:
            break
        del most[0]
    left, right = (
        _join([forms[0][1] for forms, its in zip(shown, sides, strict=True) if forms and its is side])
        for side in (False, True)
    )
    space = width - left.cell_length - right.cell_length
    if space < 0:
        return left.truncate(width, ellipsis=True)
    return Content.assemble(left, " " * space, right)


def _join(parts: Sequence[Content]) -> Content:
    return Content(" " * _GAP).join(parts) if parts else Content("")


def _cells(shown: Iterable[Content]) -> int:
    cells = [content.cell_length for content in shown]
    return sum(cells) + _GAP * max(0, len(cells) - 1)
