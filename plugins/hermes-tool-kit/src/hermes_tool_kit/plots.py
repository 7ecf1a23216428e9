"""Small plots of numbers over time: a line of bars for terminals and chats, and an SVG that any browser shows.

An SVG is text after https://www.w3.org/TR/SVG11/: shapes and words, nothing that runs and nothing that is fetched.
"""

from collections.abc import Mapping, Sequence
from html import escape

__all__ = ["bars", "svg"]

_BARS = "▁▂▃▄▅▆▇█"
_BAR, _GAP, _HIGH, _LEFT = 14, 4, 48, 90  # pixels


def bars(values: Sequence[float]) -> str:
    """Return numbers of 0 and more as a row of bars, a character each, and the largest of them behind it."""
    most = max(values, default=0.0)
    if not most > 0:
        return f"{'·' * len(values)} 0"
    row = "".join("·" if not one > 0 else _BARS[min(7, int(one / most * 7.999))] for one in values)
    return f"{row} {most:g}" if most >= 1 else f"{row} {most:.4f}"


def svg(title: str, rows: Mapping[str, Sequence[float]]) -> str:
    """Return an SVG with a row of bars for each name, all rows of the same length, the oldest number on the left."""
    many = max((len(one) for one in rows.values()), default=0)
    width = max(_LEFT + many * (_BAR + _GAP) + 90, 16 + 8 * len(title))
    high = 40 + len(rows) * (_HIGH + 16)
    size = f'width="{width}" height="{high}" viewBox="0 0 {width} {high}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">',
        f'<title>{_safe(title)}</title><rect width="100%" height="100%" fill="#fff"/>',
        f'<text x="8" y="20" font-size="14">{_safe(title)}</text>',
    ]
    for at, (name, values) in enumerate(rows.items()):
        base, most = 40 + at * (_HIGH + 16) + _HIGH, max(values, default=0.0)
        lines.append(f'<text x="8" y="{base}">{_safe(name)}</text>')
        for place, value in enumerate(values):
            tall = round(_HIGH * value / most, 1) if most > 0 and value > 0 else 0.0
            x, shown = _LEFT + place * (_BAR + _GAP), max(tall, 1.0)
            lines.append(f'<rect x="{x}" y="{base - shown}" width="{_BAR}" height="{shown}" fill="#3b6ea5"/>')
        lines.append(f'<text x="{_LEFT + many * (_BAR + _GAP) + 6}" y="{base}">{most:g}</text>')
    return "\n".join([*lines, "</svg>"])


def _safe(text: str) -> str:
    return escape("".join(one if one.isprintable() else " " for one in text))
