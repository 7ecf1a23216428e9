"""Markdown that comes in pieces: whatever the pieces, the rows are the same, and no row is wider than the width."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_core.testing import Steps
from hermes_platform_tui.markdown.blocks import Blocks
from hermes_platform_tui.markdown.clean import clean
from hermes_platform_tui.markdown.document import Document
from hermes_platform_tui.markdown.source import Lines
from hermes_platform_tui.markdown.width import cells

LINES = [
    "",
    "",
    "text that is long enough to be wrapped somewhere, with `code` and **bold**",
    "# Heading",
    "Title\n===",
    "- item",
    "  - nested",
    "    more of it",
    "1. one",
    "2) two",
    "  - under a number",
    "- [x] done",
    "> quoted",
    "> ```",
    ">> deeper",
    "```python",
    "```",
    "~~~",
    "    indented code",
    "   ```sh",
    "def f(): return 'x'",
    "| a | b |",
    "|---|:-:|",
    "| 1 | 漢字 and more |",
    "| 2 | x \\| y | z |",
    "---",
    "***",
    "$$",
    "x^2 + \\frac{a}{b}",
    "$$ y_1 $$",
    "\\[",
    "\\]",
    "[ref]: https://example.org/ref",
    "see [ref] and [text][ref] and [x](http://y.z)",
    "![image](a.png) <b>html</b> &amp; &#x202e; <http://a.b/%E2%80%AE>",
    "漢字かな交じり文はどこでも折り返せます。👨\u200d👩\u200d👧 🇩🇪 e\u0301",
    "\tتجربة\ttab",
    "$5 and $6, $x$",
    "*a **b _c* d** e_ [[[",
]
texts = st.lists(st.sampled_from(LINES) | st.text(alphabet="ab -*_`>#|[]()$\\\n\t1.漢", max_size=12), max_size=14).map(
    "\n".join
)

SHOWCASE = Path(__file__).with_name("markdown_showcase.md").read_text(encoding="utf-8")


def rows_of(document: Document) -> list[str]:
    document.settle(None)
    return [row.text if (row := document.row(place)) else "" for place in range(document.height)]


def whole(text: str, width: int, *, markdown: bool = True) -> Document:
    document = Document(markdown=markdown)
    document.append(text)
    document.finish()
    document.resize(width)
    return document


@settings(max_examples=300)
@given(text=texts, cuts=st.lists(st.integers(0, 400), max_size=12), width=st.integers(8, 60), markdown=st.booleans())
@pytest.mark.long
def test_pieces_make_no_difference(text: str, cuts: list[int], width: int, markdown: bool) -> None:
    text = clean(text)
    document = Document(markdown=markdown)
    document.resize(width)
    start = 0
    for cut in [*sorted(cut for cut in cuts if cut < len(text)), len(text)]:
        document.append(text[start:cut])
        document.refresh_tail()
        seen = rows_of(document)
        start = cut
    document.finish()
    rows = rows_of(document)
    assert rows == rows_of(whole(text, width, markdown=markdown))
    assert document.text == text
    assert all(cells(row) <= width for row in rows + seen)


@settings(max_examples=100)
@given(text=texts)
def test_any_text_is_cut_into_blocks_in_few_steps(text: str) -> None:
    text = clean(text)
    for make in (Blocks, Lines):
        whole, single = make(), make()
        with Steps(len(text), each=80):
            blocks = [*whole.feed(text), *whole.finish()]
            pieces = [block for letter in text for block in single.feed(letter)] + single.finish()
        assert [(b.kind, b.text) for b in blocks] == [(b.kind, b.text) for b in pieces]


@given(text=texts, width=st.integers(8, 60), wider=st.integers(8, 60))
def test_a_resize_is_like_the_width_from_the_start(text: str, width: int, wider: int) -> None:
    text = clean(text)
    document = whole(text, wider)
    rows_of(document)
    document.resize(width)
    assert rows_of(document) == rows_of(whole(text, width))


@settings(max_examples=200)
@given(text=texts)
def test_no_word_is_lost(text: str) -> None:
    """Each letter or ideograph of the source is in the rows; definitions of links and marks of code are not shown."""
    text = "\n".join(
        line
        for line in clean(text).split("\n")
        if not line.lstrip(" >-*1.").startswith(("[", "```", "~~~", "!", "$", "\\"))
    )
    shown = "".join(rows_of(whole(text, 40)))
    for word in ("item", "nested", "quoted", "indented", "Heading", "Title", "漢字", "under"):
        assert shown.count(word) >= text.count(word)


@pytest.mark.parametrize(
    "line",
    [
        "x" * 30000,
        "word " * 8000,
        "> " + "quote " * 8000,
        "- " + "item " * 8000,
        "| a | b |\n|--|--|\n" + "| 1 | 2 |\n" * 500,
        "```\n" + "code\n" * 3000 + "```",
        "- a\n" * 3000,
        "- a\n  ```\n" + "  code\n" * 3000,
        "> q\n" * 4000,
        "    code\n" * 900,
        "- a\n" + "  - b\n" * 3000,
        "[" * 20000,
        "*a " * 8000,
        "`" * 9000,
        "<" * 9000,
        "$a" * 9000,
        ">" * 9000,
        "![" * 8000,
        "e" + "́" * 9000,
        "((" * 5000,
        "https://a.b/" + "(" * 5000,
        "\\[" * 5000,
        "&" * 9000,
        "漢" * 9000,
        "$$\n" + "x\n" * 3000,
        "1. " * 3000,
        "- " * 3000,
        "*_" * 5000,
        "[a](" * 4000,
        "|" * 9000,
        "a|b\n-|-\n" + "|" * 9000,
    ],
)
@pytest.mark.few(8)
def test_no_block_grows_without_bound(line: str) -> None:
    document = Document()
    document.resize(40)
    document.append(line)
    parts = document.parts
    assert max(len(part) for part in parts) <= 9_000
    assert rows_of(document)
    assert all(cells(row) <= 40 for row in rows_of(document))


def test_the_cost_does_not_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each finished block is laid out once, and what is not finished is never much."""
    from hermes_platform_tui.markdown import document as module

    laid_out: list[str] = []
    lay_out = module.lay_out
    monkeypatch.setattr(
        module, "lay_out", lambda block, content, width: laid_out.append(block.text) or lay_out(block, content, width)
    )
    text = SHOWCASE * 100
    document = Document()
    document.resize(60)
    for start in range(0, len(text), 400):
        document.append(text[start : start + 400])
        before = len(laid_out)
        document.refresh_tail()
        assert sum(len(said) for said in laid_out[before:]) <= 5_000
        before = len(laid_out)
        document.settle(None)
        assert sum(len(said) for said in laid_out[before:]) <= 5_000
    laid_out.clear()
    document.finish()
    assert rows_of(document)
    assert len(laid_out) <= 2
    laid_out.clear()
    document = whole("a line\n" * 9_000, 60)  # one paragraph in many parts, whose end is looked at first
    assert document.row(document.height - 1)
    assert len(laid_out) <= 2


def test_long_blocks_read_as_one() -> None:
    code = "\n".join(f"line {number}" for number in range(200))
    document = whole(f"```python\n{code}\n```\n\nend", 40)
    assert [block.text for block in document.code_blocks] == [code]
    assert rows_of(document)[-1] == "end"
    assert rows_of(document).count("") == 1
    items = rows_of(whole("- x\n  ```\n" + "  code\n" * 2_000 + "  ```\n- y", 40))
    assert items.count(" • x") == 1
    assert items[-1] == " • y"
    table = rows_of(whole("| head | b |\n|---|---|\n" + "| 1 | 2 |\n" * 200, 40))
    assert sum("head" in row for row in table) == 1
    assert sum(row == "1    │ 2" for row in table) == 200
    paragraph = rows_of(whole("word " * 2_000, 40))
    assert "" not in paragraph


def test_definitions_may_come_last() -> None:
    text = "See [the page][A].\n\n[a]: https://example.org/page"
    shown = ["See the page (https://example.org/page)."]
    assert rows_of(whole(text, 60)) == shown
    document = Document()
    document.resize(60)
    document.append(text[:25])
    assert rows_of(document) == ["See [the page][A]."]
    document.append(text[25:])
    document.finish()
    assert rows_of(document) == shown
