"""The figures of an eval as a picture: a bar for each variant, with its interval. SVG, for any browser."""

from collections.abc import Sequence
from xml.sax.saxutils import escape

from hermes_tool_eval.figures import Figures

__all__ = ["picture"]

_ROW, _LEFT, _WIDE, _RIGHT, _TOP = 34, 220, 400, 150, 40  # pixels
_LABEL = 32  # characters of a variant's name


def picture(title: str, figures: Sequence[Figures]) -> str:
    """Draw how many runs of each variant passed."""
    height, width = _TOP + _ROW * len(figures) + 30, _LEFT + _WIDE + _RIGHT
    foot = _TOP + _ROW * len(figures)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-size="13">',
        f"<title>{_text(title)}</title>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        '<g font-family="sans-serif">',
        f'<text x="12" y="24" font-size="15" font-weight="bold">{_text(title)}</text>',
    ]
    for percent in range(0, 101, 25):
        x = _LEFT + _WIDE * percent / 100
        parts.append(f'<line x1="{x:g}" y1="{_TOP}" x2="{x:g}" y2="{foot}" stroke="#dddddd"/>')
        parts.append(f'<text x="{x:g}" y="{foot + 18}" text-anchor="middle" fill="#555555">{percent} %</text>')
    for number, one in enumerate(figures):
        y = _TOP + _ROW * number
        low, high = (_LEFT + _WIDE * share for share in (one.low, one.high))
        ends = "".join(f"M{x:.1f} {y + 12}V{y + 22}" for x in (low, high))
        cost = f", ${one.cost:.4f}" if one.priced else ""
        parts += [
            f'<text x="{_LEFT - 10}" y="{y + 21}" text-anchor="end">{_text(one.variant)}</text>',
            f'<rect x="{_LEFT}" y="{y + 7}" width="{_WIDE * one.share:.1f}" height="20" fill="#4477aa"/>',
            f'<path d="M{low:.1f} {y + 17}H{high:.1f}{ends}" stroke="#222222" fill="none"/>',
            f'<text x="{_LEFT + _WIDE + 12}" y="{y + 21}">{one.passed}/{one.runs}{cost}</text>',
        ]
    return "\n".join([*parts, "</g></svg>", ""])


def _text(text: str) -> str:
    shown = "".join(c for c in text if c.isprintable())
    return escape(shown if len(shown) <= _LABEL * 2 else f"{shown[: _LABEL * 2]}…")
