"""Markdown that is made here: tables, and pages that were HTML."""

from collections.abc import Iterable, Sequence

CELL = 1_000  # characters of one cell


def table(rows: Iterable[Sequence[object]]) -> str:
    """Rows as a Markdown table; the first is its head, as Markdown has no table without one."""
    cells = [[_cell(value) for value in row] for row in rows]
    width = max(map(len, cells), default=0)
    if not width:
        return ""
    lines = [f"| {' | '.join(row + [''] * (width - len(row)))} |" for row in cells]
    return "\n".join([lines[0], f"|{' --- |' * width}", *lines[1:]])


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    text = " ".join(str(value).split()).replace("|", "\\|")
    return text if len(text) <= CELL else f"{text[:CELL]}…"


def from_html(source: str) -> str:
    """A page's Markdown, without its pictures, which are data here."""
    from html_to_markdown import ConversionOptions, convert

    options = ConversionOptions(extract_metadata=False, skip_images=True, autolinks=False, hidden_content="drop")
    return (convert(source, options).content or "").strip()
