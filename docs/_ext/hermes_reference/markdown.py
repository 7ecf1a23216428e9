"""Small pieces of Markdown."""

from collections.abc import Iterable, Sequence


def code(text: str) -> str:
    """Inline code; empty text stays empty."""
    return f"`{text}`" if text else ""


def block(text: str, language: str = "python") -> str:
    """A fenced block."""
    return f"```{language}\n{text}\n```"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; bars and line breaks in cells are taken care of."""
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    lines += ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def joined(*parts: str) -> str:
    """Parts of a page, an empty line apart."""
    return "\n\n".join(part.strip("\n") for part in parts if part.strip()) + "\n"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
