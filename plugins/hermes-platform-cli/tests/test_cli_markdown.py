"""How finished blocks look at three widths, and that streaming never changes them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_core.testing import Steps
from hermes_platform_cli.blocks import CODE_PART, Blocks, Lines
from hermes_platform_cli.markdown import Renderer
from hermes_platform_cli.width import cells

CODES = re.compile(r"\x1b\[[0-9;]*m")

TEXT = """\
# Title

Some *prose* with **bold**, `code`, <b>tags</b>, [a link](https://example.org/x) and <https://bare.example>, long \
enough to wrap.
A second line.
- one
- two
  - nested

1. a
1. b 日本語のとても長いテキストは幅で折り返されます

```python
def f(x: int) -> str:
    return f"{x}"  # why
```

> quoted

| name | n |
|---|---:|
| 日本語 | 1 |
| x | 22 |

---
end ~~gone~~ ![cat](http://pic)
"""

AT_40 = """Title

Some prose with bold, code, <b>tags</b>,
a link (https://example.org/x) and
https://bare.example, long enough to
wrap.
A second line.
 • one
 • two
    • nested

 1. a
 2. b
    日本語のとても長いテキストは幅で折り
    返されます

  def f(x: int) -> str:
      return f"{x}"  # why

│ quoted

name      n
───────────
日本語    1
x        22

────────────────────────────────────────

end gone [cat] (http://pic)"""


def rendered(text: str, columns: int, *, piece: int = 10_000) -> str:
    blocks, renderer = Blocks(), Renderer()
    done = [b for i in range(0, len(text), piece) for b in blocks.feed(text[i : i + piece])] + blocks.finish()
    rows: list[str] = []
    for block in done:
        if block.gap and rows:
            rows.append("")
        rows += renderer.rows(block, columns)
    return "\n".join(rows)


def test_markdown_at_forty_columns() -> None:
    assert CODES.sub("", rendered(TEXT, 40)) == AT_40


@pytest.mark.parametrize("columns", [20, 40, 80, 120])
def test_no_row_is_wider_than_the_terminal(columns: int) -> None:
    rows = CODES.sub("", rendered(TEXT, columns)).split("\n")
    assert max(map(cells, rows)) <= columns
    assert not [row for row in rows if row.endswith(" ")]


def test_prose_stays_readable_on_a_wide_terminal() -> None:
    rows = CODES.sub("", rendered("word " * 100, 200)).split("\n")
    assert max(map(cells, rows)) <= 100


def test_only_the_colors_of_the_terminal_are_used() -> None:
    codes = {c for found in re.findall(r"\x1b\[([0-9;]*)m", rendered(TEXT, 80)) for c in found.split(";") if c}
    assert codes <= {"0", "1", "2", "3", "4", "9", "31", "32", "34", "35", "36"}


@pytest.mark.long
def test_pieces_make_no_difference() -> None:
    whole = rendered(TEXT, 60)
    assert [size for size in range(1, 41) if rendered(TEXT, 60, piece=size) != whole] == []


@given(st.text(st.sampled_from("ab `*_-#>|1.\n ~[]()!日"), max_size=200), st.integers(1, 9))
def test_any_text_can_be_rendered_and_keeps_its_letters(text: str, size: int) -> None:
    shown = CODES.sub("", rendered(text, 40, piece=size))
    for letter in "日":
        assert shown.count(letter) <= text.count(letter)


@given(st.text(st.sampled_from("ab `*_-#>|1.\n ~[]()!"), max_size=300))
def test_any_text_is_cut_into_blocks_in_few_steps(text: str) -> None:
    whole, single = Blocks(), Blocks()
    with Steps(len(text), each=40):
        blocks = [*whole.feed(text), *whole.finish()]
        pieces = [block for letter in text for block in single.feed(letter)] + single.finish()
    assert blocks == pieces


def test_html_and_odd_addresses_are_seen() -> None:
    shown = CODES.sub("", rendered("<script>alert(1)</script> [bank.com](http://evil.example)", 80))
    assert shown == "<script>alert(1)</script> bank.com (http://evil.example)"


def test_long_code_is_shown_in_parts_with_the_same_colors() -> None:
    body = "\n".join(f'x{n} = "text {n}"' for n in range(CODE_PART * 3))
    text = f"```python\n{body}\n```\n"
    assert len(Blocks().feed(text)) >= 3
    shown = CODES.sub("", rendered(text, 80))
    assert shown == "\n".join(f"  {line}" for line in body.split("\n"))


def test_an_unclosed_fence_and_an_unknown_language_still_show() -> None:
    assert CODES.sub("", rendered("```zzz\nlet it be", 40)) == "  let it be"


def test_a_loose_list_is_numbered_on() -> None:
    shown = CODES.sub("", rendered("1. a\n\n1. b\n\n   more\n\n1. c\n\nafter", 40))
    assert shown.split("\n") == [" 1. a", "", " 2. b", "    more", "", " 3. c", "", "after"]


def test_the_tail_is_what_is_not_finished() -> None:
    blocks = Blocks()
    assert blocks.feed("done\n\nopen line\nand mo")
    assert blocks.tail(100) == ["open line", "and mo"]
    assert [b.text for b in blocks.feed("re\n\n")] == ["open line\nand more"]
    assert blocks.tail(100) == []


def test_text_as_written_is_cut_into_lines_only() -> None:
    lines = Lines()
    assert [b.text for b in lines.feed("# a\n**b")] == ["# a"]
    assert lines.tail(2) == ["*b"]
    assert [b.text for b in lines.finish()] == ["**b"]
