"""What commands say and ask: aligned columns for people, one JSON object a line for programs."""

import json
import re
import shutil
import sys
import time
import unicodedata
from collections.abc import Mapping, Sequence
from typing import IO, Any

import click

__all__ = ["Unasked", "ago", "confirm", "emit", "fitted", "harmless", "json_option", "visible"]

_DRIVES = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")

json_option = click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")


def emit(rows: Sequence[Mapping[str, object]], columns: Sequence[str], *, as_json: bool, empty: str) -> None:
    """Print rows as a table, or as JSON lines; ``empty`` is said (on stderr) when a person asked and there is none."""
    if as_json:
        for row in rows:
            click.echo(json.dumps(row, ensure_ascii=False, default=str))
    elif rows:
        _table([[harmless(" ".join(str(row.get(c, "")).split())) for c in columns] for row in rows], columns)
    else:
        click.echo(empty, err=True)


def _table(rows: Sequence[Sequence[str]], heads: Sequence[str]) -> None:
    """Print columns under dim heads; the last one takes what the terminal leaves and is cut there."""
    widths = [max(_width(cell) for cell in column) for column in zip(heads, *rows, strict=True)]
    room = shutil.get_terminal_size((100, 24)).columns if sys.stdout.isatty() else 10_000
    widths[-1] = max(10, min(widths[-1], room - sum(widths[:-1]) - 2 * len(widths)))
    click.secho(_line(heads, widths), dim=True)
    for row in rows:
        click.echo(_line(row, widths))


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(fitted(cell, width) for cell, width in zip(cells, widths, strict=True)).rstrip()


def fitted(text: str, width: int) -> str:
    """Return the text in exactly that many columns of a terminal."""
    if _width(text) > width:
        while _width(text) >= width:
            text = text[:-1]
        text += "…"
    return text + " " * (width - _width(text))


def _width(text: str) -> int:
    """Count the columns a text takes in a terminal: wide characters count two, combining ones none."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def ago(instant: float) -> str:
    """Say how long ago something was, in the largest fitting unit."""
    seconds = max(0.0, time.time() - instant)
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit} ago"
    return "just now"


def harmless(text: str) -> str:
    """Return text in which nothing drives a terminal; else as it is, with its lines and tabs."""
    return _DRIVES.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def visible(text: str) -> str:
    """Return text in which nothing moves the cursor or hides."""
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)


class Unasked(click.ClickException):
    """Nobody is here to say yes. A command that ends with it has the exit status 2."""

    exit_code = 2

    def show(self, file: IO[Any] | None = None) -> None:
        """Say so, and what a person can do."""
        click.echo(f"{self.message}\nDecide it yourself, then say --yes.", file=file, err=file is None)


def confirm(question: str, *, yes: bool, refusal: str = "") -> None:
    """Go on only with a person's yes, given now or before. Raises Unasked when nobody is here to say it."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise Unasked(refusal or f"{question} Nobody is here to ask.")
    click.confirm(question, abort=True)
