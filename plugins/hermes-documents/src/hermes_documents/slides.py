"""PowerPoint: slide by slide, with tables, charts' numbers and the speaker's notes."""

import io
from collections.abc import Iterator
from typing import Any

from hermes_documents.markdown import table
from hermes_documents.reading import Unreadable

DEEP = 20  # groups within groups


def slides(data: bytes) -> str:
    """The slides as Markdown, in the order in which they are shown."""
    from pptx import Presentation
    from pptx.exc import PackageNotFoundError

    try:
        deck = Presentation(io.BytesIO(data))
    except (PackageNotFoundError, KeyError, ValueError) as error:
        raise Unreadable(f"it is a broken presentation ({str(error)[:200]})") from error
    parts: list[str] = []
    for number, slide in enumerate(deck.slides, 1):
        title = slide.shapes.title
        name = " ".join(title.text_frame.text.split()) if title is not None else ""
        parts.append(f"## Slide {number}{': ' + name if name else ''}")
        parts += [text for text in _shapes(slide.shapes, title, 0) if text]
        if slide.has_notes_slide and (frame := slide.notes_slide.notes_text_frame) is not None and frame.text.strip():
            parts.append(f"Notes: {frame.text.strip()}")
    return "\n\n".join(parts) + "\n"


def _shapes(shapes: Any, title: Any, depth: int) -> Iterator[str]:
    for shape in shapes:
        if title is not None and shape.shape_id == title.shape_id:
            continue
        if getattr(shape, "shapes", None) is not None and depth < DEEP:
            yield from _shapes(shape.shapes, None, depth + 1)
        elif shape.has_text_frame:
            rows = [
                f"{'  ' * one.level}- {one.text.strip()}" for one in shape.text_frame.paragraphs if one.text.strip()
            ]
            yield "\n".join(rows) if len(rows) > 1 else "".join(rows).strip().removeprefix("- ")
        elif getattr(shape, "has_table", False):
            yield table([[cell.text for cell in row.cells] for row in shape.table.rows])
        elif getattr(shape, "has_chart", False):
            yield _chart(shape.chart)


def _chart(chart: Any) -> str:
    plot = next(iter(chart.plots), None)
    if plot is None:
        return ""
    series = list(plot.series)
    head = ["", *(one.name for one in series)]
    values = [list(one.values) for one in series]
    rows = [
        [str(name), *(one[i] if i < len(one) else None for one in values)] for i, name in enumerate(plot.categories)
    ]
    return table([head, *rows])
