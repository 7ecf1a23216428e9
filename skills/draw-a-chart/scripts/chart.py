"""Draw a chart as SVG. Standard library only.   chart.py bars|line IN.csv OUT.svg [--title T] [--unit U]"""

import argparse
import csv
import math
import sys
from xml.sax.saxutils import escape

WIDE, HIGH, LEFT, TOP, RIGHT, BOTTOM = 800, 450, 80, 60, 20, 90
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9")  # told apart by the colour-blind too


def ticks(low, high):
    step = 10 ** math.floor(math.log10((high - low) / 4 or 1))
    step = next(step * n for n in (1, 2, 5, 10) if (high - low) / (step * n) <= 6)
    first = math.floor(low / step)
    return [round(n * step, 10) for n in range(first, math.ceil(high / step) + 1)]


def text(x, y, words, anchor="middle", size=12, more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}"{more}>{escape(words)}</text>'


def draw(kind, labels, names, series, title, unit):
    values = [v for one in series for v in one if v is not None]
    low, high = min(values), max(values)
    if kind == "bars":
        low, high = min(0, low), max(0, high)
    marks = ticks(low, high if high > low else low + 1)
    low, high = marks[0], marks[-1]

    def across(n):
        return LEFT + (WIDE - LEFT - RIGHT) * (n + 0.5) / len(labels)

    def up(value):
        return HIGH - BOTTOM - (HIGH - TOP - BOTTOM) * (value - low) / (high - low)

    made = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {HIGH}" font-family="sans-serif" role="img"><title>{escape(title)}</title>'
    ]
    made += [
        f'<rect width="{WIDE}" height="{HIGH}" fill="white"/>',
        text(WIDE / 2, 28, title, size=18),
        text(LEFT - 8, TOP - 14, unit, "end"),
    ]
    for mark in marks:
        made.append(f'<line x1="{LEFT}" x2="{WIDE - RIGHT}" y1="{up(mark):.1f}" y2="{up(mark):.1f}" stroke="#ddd"/>')
        made.append(text(LEFT - 8, up(mark) + 4, f"{mark:g}", "end"))
    space = (WIDE - LEFT - RIGHT) / len(labels)
    for n, label in enumerate(labels):
        turned = (
            f' transform="rotate(-40 {across(n):.1f} {HIGH - BOTTOM + 18})"'
            if len(labels) > 8 or max(map(len, labels)) * 7 > space
            else ""
        )
        made.append(text(across(n), HIGH - BOTTOM + 18, label[:24], "end" if turned else "middle", more=turned))
    for number, (name, one) in enumerate(zip(names, series)):
        colour = COLOURS[number % len(COLOURS)]
        if kind == "bars":
            width = space * 0.8 / len(series)
            for n, value in enumerate(one):
                if value is not None:
                    top, bottom = sorted((up(value), up(0)))
                    x = across(n) - space * 0.4 + number * width
                    made.append(
                        f'<rect class="bar" x="{x:.1f}" y="{top:.1f}" width="{width:.1f}" height="{bottom - top:.1f}" fill="{colour}"><title>{escape(labels[n])}: {value:g}</title></rect>'
                    )
        else:
            points = " ".join(f"{across(n):.1f},{up(v):.1f}" for n, v in enumerate(one) if v is not None)
            made.append(f'<polyline class="line" points="{points}" fill="none" stroke="{colour}" stroke-width="2.5"/>')
        if len(series) > 1:
            made.append(f'<rect x="{LEFT + number * 140}" y="{HIGH - 20}" width="12" height="12" fill="{colour}"/>')
            made.append(text(LEFT + number * 140 + 18, HIGH - 10, name[:18], "start"))
    return "\n".join([*made, "</svg>", ""])


def main(given):
    with open(given.source, encoding="utf-8-sig", newline="") as file:
        rows = [row for row in csv.reader(file) if row]
    if len(rows) < 2 or len(rows[0]) < 2 or len(rows[0]) > 6 or len(rows) > 61:
        sys.exit("chart: 2 to 6 columns and 1 to 60 rows below a header are needed")
    try:
        series = [
            [float(row[n]) if n < len(row) and row[n].strip() else None for row in rows[1:]]
            for n in range(1, len(rows[0]))
        ]
    except ValueError as error:
        sys.exit(f"chart: {error}; clean the table first")
    made = draw(given.kind, [row[0] for row in rows[1:]], rows[0][1:], series, given.title, given.unit)
    with open(given.target, "w", encoding="utf-8") as file:
        file.write(made)
    print(f"{given.kind}: {len(rows) - 1} labels, {len(series)} series")


if __name__ == "__main__":
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("kind", choices=("bars", "line"))
    words.add_argument("source")
    words.add_argument("target")
    words.add_argument("--title", default="")
    words.add_argument("--unit", default="")
    try:
        main(words.parse_args())
    except (OSError, UnicodeDecodeError) as error:
        sys.exit(f"chart: {error}")
