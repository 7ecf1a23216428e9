"""Plots of cells: bars, columns over days, a line of sparks, and what the context is made of.

Own code and not a library. plotext, the one that is looked after, costs 55 ms to import, keeps one figure for the
whole process and gives text with escape sequences in colours of its own; its Textual widget has stood still since
2024 and does not take its newest version. What is needed here are four functions that give ``Content`` in the colours
of the skin, each row exactly as wide as asked. None of them trusts a label or a number.
"""

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Literal

from textual.content import Content

from hermes_core.values import frozen
from hermes_platform_tui.look.figures import percent, tokens
from hermes_platform_tui.look.line import clip

__all__ = ["Bar", "Part", "Point", "bars", "columns", "sparkline", "stack"]

Form = Callable[[float], str]
Merge = Literal["sum", "mean"]

_UP = " ▁▂▃▄▅▆▇█"
_UP_ASCII = " .:|#"
_ACROSS = " ▏▎▍▌▋▊▉█"
# Neighbours differ without colour too, and the legend has the order of the bar.
_FILLS, _FILLS_ASCII = "█▓▒", "#=+:%o"
_MUTED = "$text-muted"
_COLOURS = ("primary", "accent", "success", "secondary", "warning", "error")
_NOTHING = "nothing to show yet"
_WIDEST_COLUMN = 8
_MOST = 1e18


@frozen
class Bar:
    """One row of a bar chart. The note stands behind the value."""

    label: str
    value: float
    note: str = ""


@frozen
class Point:
    """One day, or whatever is counted by. None is a day nobody knows about, which is not nought."""

    label: str
    value: float | None


@frozen
class Part:
    """One part of a whole. ``colour`` names a variable of the theme; without one they differ by themselves."""

    label: str
    value: float
    colour: str = ""


def bars(
    rows: Sequence[Bar], width: int, *, form: Form = tokens, colour: str = "primary", plain: bool = False
) -> list[Content]:
    """Horizontal bars, as long as their values. ``plain`` uses ASCII only."""
    if not rows:
        return [_say(clip(_NOTHING, width))]
    values = [_sound(row.value) for row in rows]
    told = [clip(form(value), 12) for value in values]
    notes = [clip(row.note, 12) for row in rows]
    of_value, of_note = _widest(told), _widest(notes)
    if width < 30:
        of_note = 0
    of_label = min(_widest([clip(row.label, 200) for row in rows]), max(6, width // 3))
    room = width - of_label - of_value - (of_note + 1 if of_note else 0) - 2
    most = max(values) or 1.0
    drawn = []
    for row, value, text, note in zip(rows, values, told, notes, strict=True):
        line = _across(value / most, max(0, room), plain)
        behind = f" {note:>{of_note}}" if of_note else ""
        content = Content.assemble(
            _pad(clip(row.label, of_label), of_label),
            " ",
            (line, f"${colour}"),
            " " * max(0, room - len(line)),
            " ",
            _before(text, of_value),
            (behind, _MUTED),
        )
        drawn.append(_exact(content, width))
    return drawn


def columns(
    points: Sequence[Point],
    width: int,
    height: int = 6,
    *,
    form: Form = tokens,
    most: float | None = None,
    merge: Merge = "sum",
    colour: str = "primary",
    plain: bool = False,
) -> list[Content]:
    """Columns over days with a scale. More days than cells are merged. ``most`` is the top, such as 1 for shares."""
    if not points:
        return [_say(clip(_NOTHING, width))]
    height = max(2, height)
    known = [_sound(point.value) for point in points if point.value is not None]
    scale = most or _round_up(max(known, default=0.0))
    # The labels of the scale depend on what is merged, and that on their width: twice is enough.
    axis = _widest([form(scale), form(scale / 2), form(0)])
    merged = _merged(points, max(1, width - axis - 2), merge)
    if most is None and merge == "sum" and len(merged) < len(points):
        scale = _round_up(max((value or 0.0 for _, value in merged), default=0.0))
        axis = max(axis, _widest([form(scale), form(scale / 2)]))
        merged = _merged(points, max(1, width - axis - 2), merge)
    room = max(1, width - axis - 2)
    step = max(1, min(_WIDEST_COLUMN, room // len(merged)))
    corner, side, tick, floor = ("+", "|", "+", "-") if plain else ("└", "│", "┤", "─")
    marks = {0: form(scale), height // 2: form(scale / 2)} if height > 3 else {0: form(scale)}
    rows = []
    for at in range(height):
        cells = "".join(_cell(value, scale, height - at, height, step, plain) for _, value in merged)
        mark = marks.get(at, "")
        axis_text = _before(mark, axis) + " " + (tick if mark else side)
        rows.append(_exact(Content.assemble((axis_text, _MUTED), (cells, f"${colour}")), width))
    foot = _before(form(0), axis) + " " + corner + floor * room
    names = " " * (axis + 2) + _days([label for label, _ in merged], step, room)
    return [*rows, _exact(_say(foot), width), _exact(_say(names), width)]


def sparkline(
    values: Sequence[float | None], width: int, *, merge: Merge = "sum", colour: str = "primary", plain: bool = False
) -> Content:
    """One row of columns, newest at the end; as wide as it has values, and never wider than asked."""
    merged = [value for _, value in _merged([Point("", value) for value in values], max(1, width), merge)]
    most = max((value or 0.0 for value in merged), default=0.0) or 1.0
    return Content.styled("".join(_cell(value, most, 1, 1, 1, plain) for value in merged), f"${colour}")


def stack(
    parts: Sequence[Part], width: int, *, whole: float = 0.0, form: Form = tokens, plain: bool = False
) -> list[Content]:
    """What a whole is made of: one bar, and a legend below. What is left of ``whole`` is free."""
    values = [_sound(part.value) for part in parts]
    whole = max(_sound(whole), sum(values))
    if whole <= 0:
        return [_say(clip(_NOTHING, width))]
    free = whole - sum(values)
    cells = _shared([*values, free], width)
    fills, blank = (_FILLS_ASCII, ".") if plain else (_FILLS, "·")
    line: list[tuple[str, str]] = []
    legend: list[Content] = []
    for at, (part, value) in enumerate(zip(parts, values, strict=True)):
        fill, style = fills[at % len(fills)], f"${part.colour or _COLOURS[at % len(_COLOURS)]}"
        line.append((fill * cells[at], style))
        legend.append(_entry(fill, style, part.label, value, whole, form))
    line.append((blank * cells[-1], _MUTED))
    if free > 0:
        legend.append(_entry(blank, _MUTED, "free", free, whole, form))
    return [_exact(Content.assemble(*line), width), *_beside(legend, width)]


def _entry(fill: str, style: str, label: str, value: float, whole: float, form: Form) -> Content:
    return Content.assemble(
        (fill, style), " ", clip(label, 24), " ", (f"{form(value)} {percent(value / whole)}", _MUTED)
    )  # fmt: skip


def _beside(entries: Sequence[Content], width: int) -> list[Content]:
    """Entries in as many columns as there is room for."""
    widest = max((entry.cell_length for entry in entries), default=0) + 3
    count = max(1, min(len(entries), (width + 3) // widest)) if entries else 1
    rows = []
    for at in range(0, len(entries), count):
        cells = [_exact(entry, min(widest, width)) for entry in entries[at : at + count]]
        rows.append(_exact(Content("").join(cells), width))
    return rows


def _sound(value: float | None) -> float:
    """A value that can be drawn; there are no bars to the left, and none without an end."""
    return min(value, _MOST) if value is not None and math.isfinite(value) and value > 0 else 0.0


def _round_up(value: float) -> float:
    """The next number that is easy to halve and to read."""
    if value <= 0:
        return 1.0
    size = 10.0 ** math.floor(math.log10(value))
    return next((size * step for step in (1, 2, 3, 4, 5, 6, 8, 10) if size * step >= value * 0.9999), size * 10)


def _merged(points: Sequence[Point], most: int, merge: Merge) -> list[tuple[str, float | None]]:
    """At most that many points: neighbours are added up, or their mean is taken."""
    if merge == "mean" and len(points) > most:
        edges = [at * len(points) // most for at in range(most + 1)]
    else:  # sums can only be compared when each is of as many days
        edges = [*range(0, len(points), math.ceil(len(points) / most) or 1), len(points)]
    merged: list[tuple[str, float | None]] = []
    for start, end in pairwise(edges):
        group = points[start:end]
        known = [_sound(point.value) for point in group if point.value is not None]
        value = sum(known) / (len(known) if merge == "mean" else 1) if known else None
        merged.append((group[0].label, value))
    return merged


def _cell(value: float | None, most: float, row: int, height: int, step: int, plain: bool) -> str:
    """One column's cells in a row; rows count from 1 at the foot."""
    gap = " " if step > 1 else ""
    wide = step - len(gap)
    if value is None:
        mark = "?" if plain else "·"
        return (mark if row == 1 else " ") * wide + gap
    signs = _UP_ASCII if plain else _UP
    steps = len(signs) - 1
    # The least there is can be seen: it is not nought.
    share = min(1.0, value / most) if most else 0.0  # the least that a float can be is nothing once it is rounded
    filled = min(height * steps, max(1 if value > 0 else 0, round(share * height * steps)))
    return signs[max(0, min(steps, filled - (row - 1) * steps))] * wide + gap


def _across(share: float, cells: int, plain: bool) -> str:
    if plain:
        return "#" * max(1 if share > 0 and cells else 0, round(share * cells))
    eighths = max(1 if share > 0 and cells else 0, round(share * cells * 8))
    whole, part = divmod(eighths, 8)
    return "█" * whole + (_ACROSS[part] if part else "")


def _shared(values: Sequence[float], cells: int) -> list[int]:
    """Whole cells for each value, all of them given away; what is there gets at least one while there are enough."""
    total = sum(values)
    exact = [value / total * cells for value in values]
    given = [int(share) for share in exact]
    for at in sorted(range(len(values)), key=lambda at: given[at] - exact[at])[: cells - sum(given)]:
        given[at] += 1
    for at, value in enumerate(values):
        most = max(range(len(values)), key=given.__getitem__)
        if value > 0 and not given[at] and given[most] > 1:
            given[at], given[most] = 1, given[most] - 1
    return given


def _days(labels: Sequence[str], step: int, room: int) -> str:
    """The names of the days below the axis: the first, the last, and those between that have room."""
    line = [" "] * room
    taken = -1
    last = len(labels) - 1
    name = clip(labels[last], room)
    end = max(0, min(last * step, room - len(name)))
    for at, label in enumerate(labels[:-1]):
        text, start = clip(label, room), at * step
        if text.isascii() and start > taken and start + len(text) < end:
            line[start : start + len(text)] = text
            taken = start + len(text) + 1
    if name.isascii():
        line[end : end + len(name)] = name
    return "".join(line[:room])


def _widest(texts: Sequence[str]) -> int:
    return max((Content(text).cell_length for text in texts), default=0)


def _pad(text: str, cells: int) -> str:
    return text + " " * (cells - Content(text).cell_length)


def _before(text: str, cells: int) -> str:
    return " " * (cells - Content(text).cell_length) + text


def _say(text: str) -> Content:
    return Content.styled(text, _MUTED)


def _exact(content: Content, width: int) -> Content:
    return content.truncate(width, pad=True)
