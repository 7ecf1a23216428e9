"""Notebooks: read as cells, changed cell by cell, written back with the rest as it was.

What is not touched keeps its place and its value: other fields, outputs, the order of keys, the width of indentation.
"""

import base64
import binascii
import json
import re
from collections.abc import Mapping, MutableSequence, Sequence
from typing import Any, Literal
from uuid import uuid4

from hermes_core.errors import ToolError
from hermes_core.types import Blob
from hermes_core.values import frozen

OUTPUT = 2_000  # characters of one output
PICTURES, PICTURE = 8, 4_000_000  # of one answer, bytes of one
_KINDS = ("image/png", "image/jpeg", "image/gif", "image/webp")
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
Action = Literal["replace", "insert", "delete"]


@frozen(kw_only=True)
class Shown:
    """A notebook's text with the pictures among its outputs."""

    text: str
    pictures: Sequence[Blob]


class Notebook:
    """One notebook. Raises ToolError for what is none."""

    def __init__(self, path: str, text: str) -> None:
        self.path, self._text = path, text
        try:
            self._json: Any = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ToolError(f"{path} is no notebook: it is broken JSON ({error}).") from error
        cells = self._json.get("cells") if isinstance(self._json, dict) else None
        if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
            raise ToolError(f"{path} is no notebook of the format 4: it has no list of cells.")
        self.cells: MutableSequence[dict[str, Any]] = cells

    @property
    def language(self) -> str:
        """What its code is written in."""
        about = self._json.get("metadata")
        info = about.get("language_info") if isinstance(about, dict) else None
        return str(info.get("name", "python")) if isinstance(info, dict) else "python"

    def shown(self) -> Shown:
        """Its cells with their numbers and ids, their outputs shortened."""
        parts, pictures = list[str](), list[Blob]()
        for number, cell in enumerate(self.cells, 1):
            kind = str(cell.get("cell_type", "raw"))
            named = f" id={cell['id']}" if isinstance(cell.get("id"), str) else ""
            ran = f" ran={cell['execution_count']}" if isinstance(cell.get("execution_count"), int) else ""
            parts.append(f"--- cell {number} {kind}{named}{ran}")
            parts.append(source_of(cell))
            for output in _list(cell.get("outputs")):
                if isinstance(output, dict):
                    parts += _output(output, number, pictures)
        if not parts:
            parts = ["[no cells]"]
        return Shown(text="\n".join(parts), pictures=pictures)

    def find(self, cell: str) -> int:
        """The place of a cell, by its number or its id. Raises ToolError."""
        wanted = cell.strip()
        for at, one in enumerate(self.cells):
            if one.get("id") == wanted and wanted:
                return at
        if wanted.isascii() and wanted.isdigit() and 1 <= int(wanted) <= len(self.cells):
            return int(wanted) - 1
        raise ToolError(f"{self.path} has no cell {cell!r}; it has {len(self.cells)} cells. Read it again.")

    def replace(self, at: int, source: str, kind: str = "") -> None:
        """Give a cell another source. Outputs of code that changed are no longer true, so they go."""
        cell = self.cells[at]
        cell["source"] = _like(cell.get("source"), source)
        kind = kind or str(cell.get("cell_type", "code"))
        if kind != cell.get("cell_type"):
            cell["cell_type"] = kind
        if kind == "code":
            cell["outputs"], cell["execution_count"] = [], None
        else:
            cell.pop("outputs", None)
            cell.pop("execution_count", None)

    def insert(self, at: int, source: str, kind: str = "") -> None:
        """Put a new cell at a place."""
        kind = kind or "code"
        fresh: dict[str, Any] = {"cell_type": kind, "metadata": {}, "source": _like([], source)}
        if kind == "code":
            fresh |= {"execution_count": None, "outputs": []}
        if (self._json.get("nbformat"), self._json.get("nbformat_minor", 0)) >= (4, 5):
            fresh = {"id": uuid4().hex[:8], **fresh}
        self.cells.insert(at, fresh)

    def written(self) -> str:
        """The file's text."""
        found = re.match(r"\{\r?\n([ \t]+)", self._text)
        indent: str | None = found[1] if found else None
        apart = (",", ": ") if indent else (", ", ": ")
        plain = self._text.isascii() and "\\u" in self._text
        text = json.dumps(self._json, indent=indent, ensure_ascii=plain, separators=apart)
        return text + ("\n" if self._text.endswith("\n") else "")


def source_of(cell: Mapping[str, Any]) -> str:
    """The text of a cell, which may be kept as a list of its lines."""
    return _joined(cell.get("source"))


def _joined(text: Any) -> str:
    return "".join(str(line) for line in text) if isinstance(text, list) else str(text or "")


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def _like(before: Any, text: str) -> str | list[str]:
    return text if isinstance(before, str) else text.splitlines(keepends=True)


def _output(output: Mapping[str, Any], number: int, pictures: list[Blob]) -> list[str]:
    if output.get("output_type") == "error":
        trace = "\n".join(str(line) for line in _list(output.get("traceback")))
        said = trace or f"{output.get('ename')}: {output.get('evalue')}"
        return [f"[error] {_short(said)}"]
    if output.get("output_type") == "stream":
        return [f"[{output.get('name', 'stdout')}] {_short(_joined(output.get('text')))}"]
    data = output.get("data")
    if not isinstance(data, dict):
        return []
    told = []
    for kind in _KINDS:
        if kind not in data:
            continue
        picture = _picture(data[kind]) if len(pictures) < PICTURES else None
        if picture:
            name = f"cell-{number}-{len(pictures) + 1}.{kind.removeprefix('image/')}"
            pictures.append(Blob(media_type=kind, data=picture, name=name))
            told.append(f"[picture {name}]")
        else:
            told.append(f"[a picture, {kind}, left out]")
    if text := data.get("text/plain") or data.get("text/markdown"):
        told.append(f"[result] {_short(_joined(text))}")
    elif not told:
        told.append(f"[output of {', '.join(map(str, data))}, left out]")
    return told


def _picture(text: Any) -> bytes | None:
    try:
        data = base64.b64decode("".join(_joined(text).split()), validate=True)
    except (binascii.Error, ValueError):
        return None
    return data if 0 < len(data) <= PICTURE else None


def _short(text: str) -> str:
    text = _ANSI.sub("", text).rstrip("\n")
    left = len(text) - OUTPUT
    return text if left <= 0 else f"{text[: OUTPUT // 2]}\n… [{left:,} characters left out]\n{text[-OUTPUT // 2 :]}"


def edit_cells(notebook: Notebook, old: str, new: str, *, replace_all: bool) -> Sequence[int]:
    """Replace text in the one cell whose source it fits; the numbers of the cells. Raises ToolError like ``edit``."""
    from hermes_tool_files.matching import Edit, edit

    found = list[tuple[int, Edit]]()
    several: ToolError | None = None
    sources = [source_of(cell) for cell in notebook.cells]
    for at, source in enumerate(sources):
        try:
            found.append((at, edit(source, old, new, replace_all=replace_all)))
        except ToolError as error:
            several = error if " places" in error.text else several
    found = [one for one in found if one[1].strategy == "exact"] or found
    if several and not found:
        raise several
    if not found:
        edit("\n".join(sources), old, new)  # says what is the nearest
        raise ToolError("Not edited: old goes over more than one cell.", hint="Change one cell at a time.")
    if len(found) > 1 and not replace_all:
        numbers = ", ".join(str(at + 1) for at, _ in found)
        raise ToolError(f"Not edited: old fits the cells {numbers}.", hint="Give more lines of the one you mean.")
    for at, result in found:
        notebook.replace(at, result.text)
    return [at + 1 for at, _ in found]
