"""Documents through read_file: as Markdown, by pages, and refused in one line when they are broken."""

import csv
import io
import zipfile
from pathlib import Path
from typing import Any

import pytest

from hermes_core.errors import ToolError
from hermes_core.testing import FakeToolContext, FakeWorkspace
from hermes_tool_files.tools import make_tools

_OFFICE = "urn:oasis:names:tc:opendocument:xmlns"


def odt(paragraphs: int) -> bytes:
    body = "".join(f"<text:p>Paragraph {number}</text:p>" for number in range(paragraphs))
    content = (
        f'<office:document-content xmlns:office="{_OFFICE}:office:1.0" xmlns:text="{_OFFICE}:text:1.0"><office:body>'
        f"<office:text>{body}</office:text></office:body></office:document-content>"
    )
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        archive.writestr("content.xml", content)
    return out.getvalue()


@pytest.fixture
def call(tmp_path: Path) -> Any:
    tools = {tool.name: tool for tool in make_tools()}
    context = FakeToolContext(FakeWorkspace(folder=tmp_path))

    async def do(name: str, **arguments: Any) -> Any:
        return await tools[name].run(context, tools[name].params(**arguments))

    return do


async def test_a_document_is_read_by_pages_and_not_edited(call: Any, tmp_path: Path) -> None:
    (tmp_path / "a.odt").write_bytes(odt(900))
    told = (await call("read_file", path="a.odt", limit=3)).splitlines()
    assert told[0] == "[a.odt as Markdown; it cannot be edited in this form]"
    assert told[1:4] == ["1|Paragraph 0", "2|", "3|Paragraph 1"]
    assert "go on with offset=4" in told[4]
    assert "1799|Paragraph 899" in await call("read_file", path="a.odt", offset=1790)
    with pytest.raises(ToolError, match="not text"):
        await call("edit_file", path="a.odt", old="Paragraph 1", new="x")


async def test_a_broken_one_is_one_line(call: Any, tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.7\n\0\0 nothing follows")
    with pytest.raises(ToolError, match=r"a\.pdf cannot be read: it is a broken PDF"):
        await call("read_file", path="a.pdf")


async def test_an_archive_that_is_no_document_is_a_binary_file(call: Any, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a.txt", "x")
    with pytest.raises(ToolError, match="is a binary file"):
        await call("read_file", path="a.zip")


async def test_separated_values_stay_lines_that_can_be_edited(call: Any, tmp_path: Path) -> None:
    with (tmp_path / "a.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["a", "b"], [1, 2]])
    assert await call("read_file", path="a.csv") == "1|a,b\n2|1,2"


async def test_without_its_reader_a_document_says_what_to_install(
    call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "hermes_documents.reading", None)
    (tmp_path / "a.odt").write_bytes(odt(1))
    with pytest.raises(ToolError, match=r"pip install 'hermes-tool-files\[documents\]'"):
        await call("read_file", path="a.odt")
