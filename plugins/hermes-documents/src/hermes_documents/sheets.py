"""Sheets of cells: Excel's three formats, OpenDocument's, and values with a separator."""

import csv
import io
from collections.abc import Iterable, Sequence
from itertools import islice

from hermes_documents.markdown import table
from hermes_documents.reading import CHARACTERS, Unreadable

ROWS = 2_000  # of one sheet
COLUMNS = 100


def sheets(data: bytes) -> str:
    """Each sheet's values as a table. Formulas are told by their last result."""
    from python_calamine import CalamineError, CalamineWorkbook, SheetVisibleEnum

    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(data))
    except CalamineError as error:
        raise Unreadable(f"it is a broken workbook ({str(error)[:200]})") from error
    parts: list[str] = []
    size = 0
    for number, facts in enumerate(book.sheets_metadata):
        if size > CHARACTERS:
            parts.append(f"[{len(book.sheets_metadata) - number:,} more sheets]")
            break
        hidden = "" if facts.visible == SheetVisibleEnum.Visible else " (hidden)"
        try:
            sheet = book.get_sheet_by_index(number)
            told = _bounded(sheet.to_python(nrows=ROWS), sheet.height, sheet.width)
        except CalamineError as error:
            told = f"[cannot be read: {str(error)[:200]}]"
        parts.append(f"## Sheet {facts.name}{hidden}\n\n{told or '[empty]'}")
        size += len(parts[-1])
    return "\n\n".join(parts) + "\n"


def separated(data: bytes) -> str:
    """Values with commas, tabs or semicolons between them, as a table."""
    text = _decoded(data)
    try:
        dialect: type[csv.Dialect] | csv.Dialect = csv.Sniffer().sniff(text[:8_192], delimiters=",;\t|")
    except csv.Error:
        dialect = csv.excel
    csv.field_size_limit(10_000_000)
    try:
        reader = csv.reader(io.StringIO(text, newline=""), dialect)
        rows = [row for row in islice(reader, ROWS) if row]
        count = len(rows) + sum(1 for row in reader if row)
    except csv.Error as error:
        raise Unreadable(f"it is no table: {error}") from error
    return _bounded(rows, count, max(map(len, rows), default=0)) + "\n"


def _bounded(rows: Iterable[Sequence[object]], height: int, width: int) -> str:
    kept = [row[:COLUMNS] for row in rows]
    notes = []
    if height > ROWS:
        notes.append(f"[the first {ROWS:,} of {height:,} rows]")
    if width > COLUMNS:
        notes.append(f"[the first {COLUMNS:,} of {width:,} columns]")
    return "\n\n".join([*notes, table(kept)]).strip()


def _decoded(data: bytes) -> str:
    for encoding in ("utf-8-sig", "utf-16") if data[:2] in (b"\xff\xfe", b"\xfe\xff") else ("utf-8-sig",):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode("cp1252", errors="replace")
