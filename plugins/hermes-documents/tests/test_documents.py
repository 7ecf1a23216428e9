"""Documents as Markdown: each kind, what is broken, and what is built to burst."""

import asyncio
import io
import subprocess
import sys
import zipfile
import zlib
from functools import cache
from pathlib import Path

import made
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes_documents.reading import Unreadable, is_document, markdown_of, read_markdown


def test_a_word_document_keeps_headings_and_tables() -> None:
    body = (
        made.paragraph("Minutes", "H1")
        + made.paragraph("All were there.")
        + made.word_table([["Who", "Vote"], ["Ada", "yes"]])
    )
    text = markdown_of(made.docx(body), "minutes.docx")
    assert text.startswith("# Minutes\n\nAll were there.")
    assert [cell.strip() for cell in text.splitlines()[-1].strip("|").split("|")] == ["Ada", "yes"]


def test_a_workbook_is_told_sheet_by_sheet() -> None:
    data = made.xlsx({"Costs": [["what", "eur"], ["nails", 4.0], ["a|b", 2.5]], "Empty": []})
    assert markdown_of(data, "x.xlsx") == (
        "## Sheet Costs\n\n| what | eur |\n| --- | --- |\n| nails | 4 |\n| a\\|b | 2.5 |\n\n## Sheet Empty\n\n[empty]\n"
    )


def test_a_long_sheet_says_what_is_left_out() -> None:
    text = markdown_of(made.xlsx({"S": [[n] for n in range(2_500)]}), "x.xlsx")
    assert "[the first 2,000 of 2,500 rows]" in text
    assert "| 1999 |" in text
    assert "| 2000 |" not in text


def test_slides_have_their_titles_points_tables_and_notes() -> None:
    text = markdown_of(made.pptx(), "x.pptx")
    assert text.startswith("## Slide 1: Plans for spring\n\n- Sow\n- Water\n\nNotes: Speak slowly.\n\n## Slide 2")
    assert "| Bed | Area |\n| --- | --- |\n| North | 12 |" in text


def test_a_pdf_is_told_page_by_page_with_its_tables_in_place() -> None:
    rows = [["Bed", "Area"], ["North", "12"], ["South", "7"]]
    page = made.at(72, 720, "Before") + made.ruled(rows, 700) + made.at(72, 600, "After")
    text = markdown_of(made.pdf([made.at(72, 700, "Hello there"), page]), "x.pdf")
    told = "| Bed | Area |\n| --- | --- |\n| North | 12 |\n| South | 7 |"
    assert text == f"## Page 1\n\nHello there\n\n## Page 2\n\nBefore\n\n{told}\n\nAfter\n"


async def test_reading_that_is_cancelled_ends_at_once() -> None:
    body, before = made.paragraph("x" * 100) * 100_000, _children()
    task = asyncio.ensure_future(read_markdown(made.docx(body), "x.docx"))
    await asyncio.sleep(0.5)
    task.cancel()
    async with asyncio.timeout(2):
        await asyncio.wait([task])
    assert task.cancelled()
    assert not _children() - before


def _children() -> set[bytes]:
    return {pid for path in Path("/proc/self/task").glob("*/children") for pid in path.read_bytes().split()}


async def test_it_is_read_the_same_without_blocking() -> None:
    data = made.xlsx({"S": [["a"]]})
    assert await read_markdown(data, "x.xlsx") == markdown_of(data, "x.xlsx")
    with pytest.raises(Unreadable, match="broken PDF"):
        await read_markdown(b"%PDF-1.7 nothing", "x.pdf")


def test_a_pdf_of_pictures_says_so() -> None:
    assert markdown_of(made.pdf(["0 0 m 9 9 l S"]), "scan.pdf").startswith("[No page has text")


def test_an_opendocument_text_keeps_headings_lists_and_tables() -> None:
    body = (
        '<text:h text:outline-level="2">Plan</text:h><text:p>Two <text:a xlink:href="https://a.example/">links</text:a></text:p>'
        "<text:list><text:list-item><text:p>one</text:p></text:list-item></text:list>"
        "<table:table><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell><table:table-cell>"
        "<text:p>b</text:p></table:table-cell></table:table-row></table:table>"
    )
    text = markdown_of(made.odt(body), "x.odt")
    assert text.startswith("## Plan\n\nTwo [links](https://a.example/)\n\n- one\n")
    assert [cell.strip() for cell in text.splitlines()[-2].strip("|").split("|")] == ["a", "b"]


def test_a_book_is_told_in_the_order_of_its_spine() -> None:
    text = markdown_of(made.epub({"b": "<h1>Second</h1>", "a": "<h1>First</h1><p>It hums.</p>"}), "x.epub")
    assert text == "# A year of bees\n\n# Second\n\n# First\n\nIt hums.\n"


def test_separated_values_are_a_table() -> None:
    assert markdown_of(b"name;n\nB\xfccher;2\n", "x.csv") == "| name | n |\n| --- | --- |\n| Bücher | 2 |\n"


@pytest.mark.parametrize("name", ["x.pdf", "x.docx", "x.xlsx", "x.bin"])
def test_what_it_is_decide_the_bytes_not_the_name(name: str) -> None:
    data = made.xlsx({"S": [["seen"]]})
    assert is_document(data, name)
    assert "seen" in markdown_of(data, name)


def test_an_archive_of_something_else_is_no_document() -> None:
    data = made.zipped({"src/main.py": "print()"})
    assert not is_document(data, "code.zip")
    with pytest.raises(Unreadable, match="unpack it with a command"):
        markdown_of(data, "code.zip")


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (made.pdf([made.at(1, 1, "x")])[:200], "x.pdf"),
        (made.docx(made.paragraph("x"))[:-60], "x.docx"),
        (made.docx("<w:p>"), "x.docx"),
        (made.zipped({"word/document.xml": "<a/>"}), "x.docx"),
        (made.zipped({"xl/workbook.xml": "<a/>"}), "x.xlsx"),
        (made.zipped({"ppt/presentation.xml": "<a/>"}), "x.pptx"),
        (made.zipped({"mimetype": "application/epub+zip"}), "x.epub"),
        (made.odt("<text:p>"), "x.odt"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "old.xls"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "old.doc"),
    ],
    ids=range(10),
)
def test_what_is_broken_is_one_clear_line(data: bytes, name: str) -> None:
    with pytest.raises(Unreadable) as caught:
        markdown_of(data, name)
    assert "\n" not in str(caught.value)
    assert "Traceback" not in str(caught.value)
    assert len(str(caught.value)) > 10


def test_an_external_entity_opens_no_file(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("hunter2")
    odt = made.odt("<text:p>&x;</text:p>")
    with zipfile.ZipFile(io.BytesIO(odt)) as archive:
        content = archive.read("content.xml").decode()
    content = f'<!DOCTYPE d [<!ENTITY x SYSTEM "file://{secret}">]>{content}'
    with pytest.raises(Unreadable, match="broken OpenDocument"):
        markdown_of(
            made.zipped({"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": content}), "x.odt"
        )


def _bombs() -> dict[str, tuple[bytes, str]]:
    run = made.paragraph("x" * 1_000)
    zeros = zlib.compress(bytes(200 * 1024 * 1024), 9)
    stream = made.pdf(["@"]).replace(
        b"<< /Length 1 >>\nstream\n@", b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s" % (len(zeros), zeros)
    )
    far = made.xlsx({"S": [["here"]]})
    with zipfile.ZipFile(io.BytesIO(far)) as archive:
        files: dict[str, str | bytes] = {name: archive.read(name) for name in archive.namelist()}
    sheet = bytes(files["xl/worksheets/sheet1.xml"])
    end = b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'
    files["xl/worksheets/sheet1.xml"] = sheet.replace(b"</sheetData>", end)
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    laughing = f'<!DOCTYPE d [<!ENTITY l0 "ha">{laughs}]><d>&l11;</d>'
    return {
        "word": (made.docx(run * 150_000), "x.docx"),
        "zeros": (made.zipped({"word/document.xml": bytes(600 * 1024 * 1024)}), "x.docx"),
        "pdf": (stream, "x.pdf"),
        "far cell": (made.zipped(files), "x.xlsx"),
        "laughs": (
            made.zipped({"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": laughing}),
            "x.odt",
        ),
        "nested": (made.epub({"a": "<div>" * 200_000}), "x.epub"),
    }


# In a process of its own, whose only child is the reader: what other tests' children needed counts there, too.
_MEASURED = """
import resource, sys
from hermes_documents.reading import Unreadable, markdown_of
try:
    text = markdown_of(sys.stdin.buffer.read(), sys.argv[1], seconds=20, memory=int(sys.argv[2]))
except Unreadable as error:
    text = str(error)
    assert "\\n" not in text, text
assert len(text) < 2_100_000
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
"""


@pytest.mark.long
@pytest.mark.parametrize("bomb", ["word", "zeros", "pdf", "far cell", "laughs", "nested"])
def test_what_is_built_to_burst_needs_no_more_than_its_bound(bomb: str) -> None:
    data, name = _bombs()[bomb]
    bound = 1024 * 1024 * 1024
    assert len(data) < 32 * 1024 * 1024
    argv = [sys.executable, "-c", _MEASURED, name, str(bound)]
    done = subprocess.run(argv, input=data, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert int(done.stdout) <= bound


# Built once: the libraries that write them put the time of day in, and an example must mean the same file each time.
@cache
def _whole(kind: str) -> bytes:
    return {
        "pdf": lambda: made.pdf([made.at(72, 700, "Hello")]),
        "docx": lambda: made.docx(made.paragraph("Hello")),
        "xlsx": lambda: made.xlsx({"S": [["Hello"]]}),
        "pptx": made.pptx,
        "odt": lambda: made.odt("<text:p>Hello</text:p>"),
        "epub": lambda: made.epub({"a": "<p>Hello</p>"}),
    }[kind]()


@pytest.mark.long
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(["pdf", "docx", "xlsx", "pptx", "odt", "epub"]), st.data())
def test_any_damage_is_told_or_overcome(kind: str, data: st.DataObject) -> None:
    damaged = bytearray(_whole(kind))
    for _ in range(data.draw(st.integers(1, 6))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    try:
        assert isinstance(markdown_of(bytes(damaged), f"x.{kind}"), str)
    except Unreadable as error:
        assert "\n" not in str(error)  # noqa: PT017
