"""Notebooks: read as cells, changed cell by cell, the rest left as it was."""

import base64
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_core.errors import ToolError
from hermes_core.testing import FakeToolContext, FakeWorkspace
from hermes_core.types import Blob, Text
from hermes_tool_files.notebooks import Notebook
from hermes_tool_files.tools import make_tools

PICTURE = b"\x89PNG\r\n\x1a\n" + b"0" * 40
ENCODED = base64.b64encode(PICTURE).decode()


def cell(kind: str, source: list[str] | str, **more: Any) -> dict[str, Any]:
    base = {"cell_type": kind, "metadata": {"kept": [1, 2]}, "source": source}
    return base | ({"execution_count": 1, "outputs": []} if kind == "code" else {}) | more


def text_of(cells: list[dict[str, Any]], minor: int = 5) -> str:
    whole = {"cells": cells, "metadata": {"z": 1, "a": "é"}, "nbformat": 4, "nbformat_minor": minor}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


SEEN = [
    cell("markdown", "# Bees", id="aa"),
    cell("code", ["x = 1\n", "print(x)"], id="bb", outputs=[
        {"output_type": "stream", "name": "stdout", "text": ["1\n"]},
        {"output_type": "display_data", "data": {"image/png": ENCODED, "text/plain": ["<Figure>"]}},
        {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["\x1b[31mline 1\x1b[0m", "line 2"]},
        {"output_type": "stream", "name": "stdout", "text": "y" * 9_000},
    ]),
    cell("code", "y = 2", id="cc", outputs=[{"output_type": "execute_result", "data": {"text/html": "<p>"}}]),
]  # fmt: skip


@pytest.fixture
def call(tmp_path: Path) -> Any:
    tools = {tool.name: tool for tool in make_tools()}
    context = FakeToolContext(FakeWorkspace(folder=tmp_path))
    (tmp_path / "a.ipynb").write_text(text_of(SEEN), encoding="utf-8")

    async def do(name: str, **arguments: Any) -> Any:
        return await tools[name].run(context, tools[name].params(path="a.ipynb", **arguments))

    return do


async def test_it_is_read_as_cells_with_short_outputs_and_pictures(call: Any) -> None:
    text, picture = await call("read_file")
    assert isinstance(text, Text)
    assert isinstance(picture, Blob)
    assert picture.data == PICTURE
    assert picture.name == "cell-2-1.png"
    told = [line.partition("|")[2] for line in text.text.splitlines()]
    assert told[:5] == ["--- cell 1 markdown id=aa", "# Bees", "--- cell 2 code id=bb ran=1", "x = 1", "print(x)"]
    assert told[5:10] == ["[stdout] 1", "[picture cell-2-1.png]", "[result] <Figure>", "[error] line 1", "line 2"]
    assert "… [7,000 characters left out]" in told
    assert told[-1] == "[output of text/html, left out]"


async def test_text_in_a_cell_is_edited_like_a_file_and_the_rest_stays(call: Any, tmp_path: Path) -> None:
    assert "cell 3" in await call("edit_file", old="y = 2", new="y = 3\nprint(y)")
    expected = [*SEEN[:2], cell("code", "y = 3\nprint(y)", id="cc", execution_count=None)]
    assert (tmp_path / "a.ipynb").read_text(encoding="utf-8") == text_of(expected)


async def test_what_fits_two_cells_or_none_changes_nothing(call: Any, tmp_path: Path) -> None:
    before = (tmp_path / "a.ipynb").read_bytes()
    with pytest.raises(ToolError, match="fits the cells 2, 3"):
        await call("edit_file", old=" = ", new=" == ")
    with pytest.raises(ToolError, match="old is not in the file"):
        await call("edit_file", old="zebra crossing", new="x")
    with pytest.raises(ToolError, match="more than one cell"):
        await call("edit_file", old="print(x)\ny = 2", new="x")
    assert (tmp_path / "a.ipynb").read_bytes() == before


async def test_cells_are_replaced_inserted_and_deleted_by_id_or_number(call: Any, tmp_path: Path) -> None:
    await call("edit_notebook", cell="bb", source="z = 1\nz\n")
    await call("edit_notebook", cell="0", source="first", kind="markdown", action="insert")
    told = await call("edit_notebook", cell="4", action="delete")
    assert told == "Deleted cell 4 of a.ipynb, which has 3 cells now."
    cells = json.loads((tmp_path / "a.ipynb").read_text(encoding="utf-8"))["cells"]
    assert [one["source"] for one in cells] == [["first"], "# Bees", ["z = 1\n", "z\n"]]
    assert cells[0].keys() == {"id", "cell_type", "metadata", "source"}
    assert cells[2]["outputs"] == []
    with pytest.raises(ToolError, match="no cell '9'; it has 3 cells"):
        await call("edit_notebook", cell="9", source="")


@pytest.mark.parametrize("text", ["{", "[]", '{"cells": 1}', '{"cells": [1]}', '{"worksheets": []}'])
async def test_what_is_no_notebook_is_read_as_text_and_not_edited(call: Any, tmp_path: Path, text: str) -> None:
    (tmp_path / "a.ipynb").write_text(text)
    assert await call("read_file") == f"1|{text}"
    with pytest.raises(ToolError, match="is no notebook"):
        await call("edit_notebook", cell="1", source="x")
    assert (tmp_path / "a.ipynb").read_text() == text


def test_the_tool_is_offered_where_a_notebook_lies(tmp_path: Path) -> None:
    tool = next(tool for tool in make_tools() if tool.name == "edit_notebook")
    session: Any = SimpleNamespace(cwd=str(tmp_path))
    assert tool.needs is not None
    assert "edit_file" in (tool.needs(session) or "")
    (tmp_path / "b.ipynb").touch()
    assert tool.needs(session) is None


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.text(max_size=3), _JSON, max_size=3), st.lists(st.text(max_size=20), min_size=1, max_size=4),
    st.text(max_size=20), st.sampled_from([None, 1, 2, "\t"]), st.booleans())  # fmt: skip
def test_all_but_the_changed_cell_is_as_it_was(
    more: dict[str, Any], sources: list[str], new: str, indent: int | str | None, plain: bool
) -> None:
    whole = {**more, "cells": [cell("markdown", source) for source in sources], "nbformat": 4, "nbformat_minor": 2}
    text = json.dumps(whole, indent=indent, ensure_ascii=plain)
    notebook = Notebook("a.ipynb", text)
    notebook.replace(len(sources) - 1, new)
    written = notebook.written()
    whole["cells"][-1]["source"] = new
    assert json.loads(written) == whole
    untouched = Notebook("a.ipynb", text)
    if plain or indent is not None:
        assert json.loads(untouched.written()) == json.loads(text)


@given(_JSON)
def test_any_cells_are_shown(value: Any) -> None:
    cells = [
        {"cell_type": "code", "source": value, "outputs": value},
        {"outputs": [{"data": value}, {"data": {"image/png": value}}]},
    ]
    assert Notebook("a.ipynb", json.dumps({"cells": cells})).shown().text.startswith("--- cell 1 code")
