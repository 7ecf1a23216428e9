"""A stand-in for ``hermes_platform_tui.look.plots``, with the names and signatures that the screens use of it."""

from collections.abc import Callable, Sequence

import attrs
from textual.content import Content

from hermes_platform_tui.screens.shown import tokens

__all__ = ["Bar", "Part", "Point", "bars", "columns", "stack"]

Form = Callable[[float], str]


@attrs.frozen
class Bar:
    """One row of a bar chart."""

    label: str
    value: float
    note: str = ""


@attrs.frozen
class Point:
    """One day; None where nobody knows."""

    label: str
    value: float | None


@attrs.frozen
class Part:
    """One part of a whole."""

    label: str
    value: float
    colour: str = ""


def bars(rows: Sequence[Bar], width: int, *, form: Form = tokens, colour: str = "primary") -> list[Content]:
    """Horizontal bars."""
    most = max((row.value for row in rows), default=0.0) or 1.0
    room = max(1, width - 32)
    return [
        Content.assemble(
            row.label[:20].ljust(21), ("█" * round(room * row.value / most), f"${colour}"), f" {form(row.value)}"
        ).truncate(width, pad=True)
        for row in rows
    ]


def columns(
    points: Sequence[Point],
    width: int,
    height: int = 6,
    *,
    form: Form = tokens,
    most: float | None = None,
    merge: str = "sum",
    colour: str = "primary",
) -> list[Content]:
    """Columns over days."""
    top = most or max((point.value or 0.0 for point in points), default=0.0) or 1.0
    room = max(1, width - 10)
    step = max(1, min(6, room // max(1, len(points))))
    lines = []
    for row in range(height, 0, -1):
        mark = form(top) if row == height else ""
        cells = "".join(_cell((point.value or 0.0) / top * height - row + 1, step) for point in points[-room:])
        lines.append(Content.assemble((mark.rjust(8), "$text-muted"), " │", (cells, f"${colour}")))
    foot = f"{points[0].label if points else ''} … {points[-1].label if points else ''}"
    return [line.truncate(width, pad=True) for line in (*lines, Content.styled(" " * 10 + foot, "$text-muted"))]


def _cell(filled: float, step: int) -> str:
    sign = " ▁▂▃▄▅▆▇█"[max(0, min(8, round(filled * 8)))]
    return sign * max(1, step - 1) + " " * (step > 1)


def stack(parts: Sequence[Part], width: int, *, whole: float = 0.0, form: Form = tokens) -> list[Content]:
    """What a whole is made of."""
    whole = max(whole, sum(part.value for part in parts)) or 1.0
    line = "".join(sign * round(part.value / whole * width) for part, sign in zip(parts, "█▓▒░" * 9, strict=False))
    legend = [f"{part.label} {form(part.value)}" for part in parts]
    return [Content(line.ljust(width, "·")[:width]), Content("   ".join(legend)).truncate(width, pad=True)]
