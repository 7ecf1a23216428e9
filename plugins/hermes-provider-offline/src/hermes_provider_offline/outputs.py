"""Reading what tools returned: folder listings, numbered files, matches. Tolerant of how a tool lays them out."""

import json
import re
from collections.abc import Sequence
from itertools import pairwise

from hermes_core.values import frozen

_SIZE = re.compile(
    r"^(?P<name>.*?\S)[\t ]+\(?(?P<size>\d[\d,.]*) ?(?P<unit>bytes?|[KMG]i?B|[BKMG])?\)?(?:[\t ].*)?$", re.IGNORECASE
)
_UNITS = {"k": 1024, "m": 1024**2, "g": 1024**3}
_NOTE = re.compile(
    r"^(?:\(|\[|…|\.\.\.|total \d+|\d[\d,]* (?:files?|folders?|entries|items|more|matches|lines?)\b|no"
    r" files|nothing)|[^/]:$",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"^\s*(?P<number>\d+)(?:\t|\||: ?|→| │ ?)(?P<text>.*)$")
_HIT = re.compile(r"^(?P<path>(?:[A-Za-z]:)?[^\s:][^:\n]*?):(?P<line>\d+)[:|-](?: ?)(?P<text>.*)$")
_CUT = re.compile(
    r"left out|truncated|more than|more lines|more matches|cut here|lines \d+ to \d+ of|limit reached"
    r"|\boffset[ =]\d+|more:",
    re.IGNORECASE,
)
_EMPTY = re.compile(
    r"^\s*(?:\(?nothing|\(?no |none\b|there (?:are|is) no|the folder is empty|only this conversation|0 "
    r"|\(empty|\(no)",
    re.IGNORECASE,
)


@frozen(kw_only=True)
class Entry:
    """One thing in a folder; ``size`` is -1 when the listing does not tell."""

    name: str
    size: int = -1
    folder: bool = False


@frozen(kw_only=True)
class Hit:
    """One line that matched."""

    path: str
    line: int
    text: str


@frozen(kw_only=True)
class FileText:
    """The text of a file as far as a tool showed it."""

    lines: Sequence[str]
    whole: bool = True
    onward: int = 0  # the line to go on with, when a tool says so
    total: int = 0  # lines of the whole file, as far as is known


def unwrap(text: str) -> str:
    """The text inside a fence for outside content, or the one text field of a JSON object."""
    if found := re.fullmatch(r"\s*<untrusted[^>]*>\n(.*)\n</untrusted>.*", text, re.DOTALL):
        text = found[1]
    if text.lstrip().startswith("{"):
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            return text
        for key in ("content", "output", "text", "result"):
            if isinstance(data, dict) and isinstance(data.get(key), str):
                return str(data[key])
    return text


def is_empty(text: str) -> bool:
    """Whether a tool says that it found nothing."""
    return not text.strip() or bool(_EMPTY.match(text))


def listing(text: str) -> list[Entry]:
    """The entries of a folder listing, one a line."""
    found = []
    for line in unwrap(text).splitlines():
        row = re.sub(r"^(?:[-*•]\s+|\s+)", "", line).rstrip()
        if not row or _NOTE.search(row):
            continue
        size, name = -1, row
        if sized := _SIZE.match(row):
            name, size = sized["name"].rstrip(), _bytes(sized["size"], sized["unit"] or "")
        name = name.removeprefix("./").removesuffix(" (not shown)")
        found.append(Entry(name=name.rstrip("/"), size=size, folder=name.endswith("/")))
    return [entry for entry in found if entry.name]


def _bytes(size: str, unit: str) -> int:
    try:
        return int(float(size.replace(",", "")) * _UNITS.get(unit[:1].lower(), 1))
    except ValueError:
        return -1


def file_text(text: str, path: str = "") -> FileText:
    """The lines of a file; line numbers and a tool's notes after the last line are taken away."""
    if text.strip() in (f"{path} is empty.", "(empty)", "(no output)"):
        return FileText(lines=())
    rows = unwrap(text).split("\n")
    numbered = [_NUMBERED.match(row) for row in rows]
    first = next((i for i, row in enumerate(rows) if row.strip()), -1)
    if first < 0 or not _counts_up([found for found in numbered[first:] if found], numbered[first:]):
        whole = not any(_CUT.search(row) for row in rows[-3:] if row[:1] in "[(….<")
        lines = rows[:-1] if rows and not rows[-1] else rows
        return FileText(lines=lines, whole=whole, total=len(lines))
    lines = [found["text"] for found in numbered if found]
    notes = [row for row, found in zip(rows, numbered, strict=True) if not found and row.strip()]
    onward = next((int(found[1]) for note in notes if (found := re.search(r"offset[ =](\d{1,9})", note))), 0)
    total = next((int(found[1].replace(",", "")) for note in notes if (found := re.search(r" of (\d[\d,]*)", note))), 0)
    whole = not any(_CUT.search(note) for note in notes)
    return FileText(lines=lines, whole=whole, onward=onward, total=total or len(lines))


def _counts_up(found: "Sequence[re.Match[str]]", rows: "Sequence[re.Match[str] | None]") -> bool:
    numbers = [int(match["number"]) for match in found]
    return bool(numbers) and rows[0] is not None and all(b == a + 1 for a, b in pairwise(numbers))


def hits(text: str) -> list[Hit]:
    """Matches as ``path:line: text``, or as a path on its own line with its matches below it."""
    found: list[Hit] = []
    path = ""
    for row in unwrap(text).splitlines():
        if match := _HIT.match(row):
            found.append(
                Hit(path=match["path"].removeprefix("./"), line=int(match["line"]), text=match["text"].strip())
            )
        elif (match := re.match(r"^\s*(?P<line>\d+)[:|\t]\s?(?P<text>.*)$", row)) and path:
            found.append(Hit(path=path, line=int(match["line"]), text=match["text"].strip()))
        elif row.strip() and not row[0].isspace():
            path = row.strip().rstrip(":").removeprefix("./")
    return found


def was_cut(text: str) -> bool:
    """Whether a tool says that it did not show everything."""
    return bool(_CUT.search(text[-400:]))


def headings(lines: Sequence[str]) -> list[str]:
    """The headings of a Markdown text, outside of code; also those underlined with = or -."""
    found: list[str] = []
    fence = ""
    for before, line in zip(["", *lines], lines, strict=False):
        mark = re.match(r"\s{0,3}(`{3,}|~{3,})", line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1][:3]
        elif fence:
            continue
        elif re.match(r"#{1,6}\s+\S", line):
            found.append(re.sub(r"\s+#+\s*$", "", line.strip()))
        elif re.fullmatch(r"(=+|-{3,})\s*", line) and before.strip() and not before.startswith(("#", "-", "|", ">")):
            found.append(("# " if line.startswith("=") else "## ") + before.strip())
    return found
