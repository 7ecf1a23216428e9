"""How many columns text takes, and how to cut and wrap it by columns."""

from collections.abc import Iterable, Sequence

from wcwidth import wcwidth

__all__ = ["cells", "clip", "clip_start", "last_rows", "wrap"]

_JOINER = "\u200d"
TAB = "    "


def _steps(text: str) -> Iterable[tuple[str, int]]:
    """Each character with the columns it adds; what joins the character before adds none."""
    joined = False
    for character in text:
        if " " <= character <= "~":
            yield character, 1
            joined = False
            continue
        yield character, 0 if joined else max(0, wcwidth(character))
        joined = character == _JOINER


def cells(text: str) -> int:
    """Columns that one line of text takes."""
    return len(text) if text.isascii() else sum(width for _, width in _steps(text))


def clip(text: str, width: int) -> str:
    """One line, cut to ``width`` columns; a cut line ends in an ellipsis."""
    text = " ".join(text.replace("\t", TAB).split("\n"))
    if len(text) <= width // 2 or cells(text) <= width:
        return text
    kept, used = [], 0
    for character, step in _steps(text):
        if used + step > width - 1:
            break
        kept.append(character)
        used += step
    return "".join(kept) + "…" if width > 0 else ""


def clip_start(text: str, width: int) -> str:
    """The end of a line, cut at its start to ``width`` columns."""
    text = " ".join(text.replace("\t", TAB).split("\n"))
    while text and cells(text) > width:
        text = text[max(1, (cells(text) - width) // 2) :]
    return text


def wrap(line: str, width: int) -> list[str]:
    """The rows of one line, broken at spaces where possible."""
    rows: list[str] = []
    row: list[str] = []
    used = space = 0  # columns in the row; length of the row up to its last space
    for character, step in _steps(line.replace("\t", TAB)):
        if used + step > width and row and character == " ":
            rows.append("".join(row))
            row, used, space = [], 0, 0
            continue
        while used + step > width and row:  # twice, where what follows the last space leaves no room either
            cut = space or len(row)
            rows.append("".join(row[:cut]).rstrip(" ") if space else "".join(row))
            row = row[cut:]
            used, space = cells("".join(row)), 0
        row.append(character)
        used += step
        if character == " ":
            space = len(row)
    rows.append("".join(row))
    return rows


def last_rows(lines: Sequence[str], width: int, count: int) -> list[str]:
    """The last ``count`` rows of wrapped lines, looking at no more text than needed."""
    rows: list[str] = []
    for line in reversed(lines):
        if len(rows) >= count:
            break
        rows[:0] = wrap(line[-width * count * 2 :], width)
    return rows[-count:] if count > 0 else []
