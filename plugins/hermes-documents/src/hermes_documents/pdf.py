"""PDF: each page's text, and its ruled tables as tables."""

import io
import time
from collections.abc import Callable
from itertools import islice
from typing import Any

from hermes_documents.markdown import table
from hermes_documents.reading import CHARACTERS, Unreadable

PAGES = 5_000
LOOKED = 2_000  # drawn things of a page that are looked at for a table
THIN, WIDE, HIGH = 5.0, 20.0, 8.0  # points; a line is as thick as its stroke twice


def pdf(data: bytes, seconds: float) -> str:
    """The pages as Markdown. Looking for tables is slow, so it has half the time; what comes later is plain text."""
    import pypdfium2 as pdfium  # type: ignore[import-untyped]
    from pypdfium2 import raw

    try:
        document = pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        locked = "assword" in str(error)
        raise Unreadable("it needs a password" if locked else f"it is a broken PDF ({error})") from error
    until = time.process_time() + seconds / 2
    tables = _tables(data)
    parts: list[str] = []
    size, empty, plain = 0, 0, 0
    count = len(document)
    for number in range(min(count, PAGES)):
        try:
            page = document[number]
            text = page.get_textpage().get_text_bounded().replace("\r\n", "\n").strip()
            ruled = text and _ruled(page, raw.FPDF_PAGEOBJ_PATH)
        except pdfium.PdfiumError:
            parts.append(f"## Page {number + 1}\n\n[this page is broken]")
            continue
        if ruled and time.process_time() > until:
            plain += 1
        elif ruled:
            text = tables(number) or text
        empty += not text
        parts.append(f"## Page {number + 1}\n\n{text or '[no text]'}")
        size += len(parts[-1])
        if size > CHARACTERS:
            break
    notes = []
    if count and empty == len(parts):
        notes.append("[No page has text: they are pictures. Look at them with a tool that sees, or read them by OCR.]")
    if len(parts) < count:
        notes.append(f"[pages {len(parts) + 1:,}-{count:,} are left out]")
    if plain:
        notes.append(f"[tables of {plain:,} pages are told as plain text: looking for them took too long]")
    return "\n\n".join([*notes, *parts]) + "\n"


def _ruled(page: Any, path: int) -> bool:
    """Whether a page has lines in both directions, or boxes, enough for the smallest table."""
    across = down = boxes = 0
    for one in islice(page.get_objects(filter=[path], max_depth=3), LOOKED):
        left, bottom, right, top = one.get_bounds()
        width, height = right - left, top - bottom
        across += height < THIN and width > WIDE
        down += width < THIN and height > HIGH
        boxes += width >= WIDE and height >= HIGH
    return (across >= 2 and down >= 2) or boxes >= 2


def _tables(data: bytes) -> Callable[[int], str]:
    """What tells a page with its tables in place, empty where it has none; opened at the first page that may."""
    import pdfplumber

    opened: list[pdfplumber.pdf.PDF] = []

    def told(number: int) -> str:
        try:
            if not opened:
                opened.append(pdfplumber.open(io.BytesIO(data)))
            return _page(opened[0].pages[number])
        except MemoryError:
            raise
        except Exception:  # noqa: BLE001 - another parser's view of a broken page; its plain text is there
            return ""

    return told


def _page(page: Any) -> str:
    found = [(one.bbox, one.extract()) for one in page.find_tables()]
    found = [(box, rows) for box, rows in found if len(rows) > 1 and max(map(len, rows)) > 1]
    if not found:
        return ""
    boxes = [box for box, _ in found]
    outside = page.filter(lambda thing: not any(_within(thing, box) for box in boxes))
    parts: list[str] = []
    top: float = page.bbox[1]
    for (_, begin, _, end), rows in sorted(found, key=lambda one: (one[0][1], one[0][0])):
        if begin > top:
            parts.append(_text(outside, top, begin))
        parts.append(table(rows))
        if end > max(begin, top):  # what stands beside it
            parts.append(_text(outside, max(begin, top), end))
        top = max(top, end)
    parts.append(_text(outside, top, page.bbox[3]))
    page.close()
    return "\n\n".join(part for part in parts if part)


def _text(page: Any, top: float, bottom: float) -> str:
    left, _, right, _ = page.bbox
    if bottom - top < 1:
        return ""
    return str(page.within_bbox((left, top, right, bottom), strict=False).extract_text() or "").strip()


def _within(thing: dict[str, Any], box: tuple[float, float, float, float]) -> bool:
    across, down = (thing["x0"] + thing["x1"]) / 2, (thing["top"] + thing["bottom"]) / 2
    return bool(box[0] <= across <= box[2] and box[1] <= down <= box[3])
