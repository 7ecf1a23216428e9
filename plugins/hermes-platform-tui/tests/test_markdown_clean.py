"""What may reach the terminal, and how wide it is there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_core.testing import Steps
from hermes_platform_tui.markdown.clean import Cleaner, clean
from hermes_platform_tui.markdown.width import breaks, cells, clip, expand, graphemes, wrap

ALPHABET = (
    "ab c -\t\n\r的。（漢🇩🇪👍🏽👨\u200d👩\u200d👧❤\ufe0f\u0301e\x1b[]0;m\x07\x9b\x9d\\\ud83d\ude00\U0001f3f4\U000e0067"
    "\U000e007f\u202e\u2066\xad\u0e33مرحبا"
)
texts = st.text(alphabet=ALPHABET, max_size=60) | st.text(max_size=60)


@pytest.mark.parametrize(
    ("dirty", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]8;;http://evil\x07text\x1b]8;;\x07", "text"),
        ("\x1b]52;c;aGk=\x1b\\x", "x"),
        ("\x1bP1$r\x1b\\x", "x"),
        ("\x9b31mx\x9d0;title\x9cy", "xy"),
        ("\x1b]0;no end\nnext", "0;no end\nnext"),
        ("\x1b\x1b[31m[0mx", "[0mx"),
        ("a\x00b\x08c\x7fd", "abcd"),
        ("10%\r20%\r\nend", "10%\n20%\nend"),
        ("safe\u202egnp.exe\u2069", "safegnp.exe"),
        ("\ud83d\ude00 and \ud83d alone", "😀 and \ufffd alone"),
        ("a\u200db, 👩\u200d🚀, \u200d", "ab, 👩\u200d🚀, "),
        ("\U0001f3f4\U000e0067\U000e0062\U000e007f!", "\U0001f3f4\U000e0067\U000e0062\U000e007f!"),
        ("hid\U000e0061\U000e0062den", "hidden"),
        ("Z" + "\u0301" * 60, "Z" + "\u0301" * 8),
        ("tab\tand\nline", "tab\tand\nline"),
        ("مرحبا \u200f(x)", "مرحبا \u200f(x)"),
    ],
)
def test_what_reaches_the_terminal(dirty: str, shown: str) -> None:
    assert clean(dirty) == shown


@given(text=texts, cuts=st.lists(st.integers(0, 60)))
def test_a_stream_is_cleaned_like_the_whole(text: str, cuts: list[int]) -> None:
    cleaner, shown, start = Cleaner(), "", 0
    with Steps(len(text) + len(cuts), each=120):
        for cut in [*sorted(cut for cut in cuts if cut < len(text)), len(text)]:
            shown += cleaner.feed(text[start:cut])
            start = cut
        shown += cleaner.finish()
    assert shown == clean(text)


@pytest.mark.parametrize("unit", ["\x9d", "\x90\x9b"])
def test_beginnings_of_sequences_without_an_end_are_looked_through_soon(unit: str) -> None:
    shown = clean(unit * 1_500_000)
    assert not any("\x7f" <= letter <= "\x9f" or letter == "\x1b" for letter in shown)


@given(text=texts)
def test_nothing_that_drives_a_terminal_is_left(text: str) -> None:
    shown = clean(text)
    assert not any(letter < " " and letter not in "\t\n" for letter in shown)
    assert not any("\x7f" <= letter <= "\x9f" or "\u202a" <= letter <= "\u202e" for letter in shown)
    shown.encode()


@given(text=texts, width=st.integers(2, 30))
def test_rows_fit_and_nothing_is_lost(text: str, width: int) -> None:
    text = clean(text)
    rows = wrap(text, width)
    assert all(cells(row) <= width for row in rows)
    assert "".join("".join(rows).split()) == "".join(text.split())
    assert cells(clip(text, width)) <= width


@given(text=texts)
def test_graphemes_cover_the_text_and_its_width(text: str) -> None:
    line = expand(clean(text).replace("\n", " "))
    parts = list(graphemes(line))
    assert "".join(line[start:end] for start, end, _ in parts) == line
    assert sum(width for _, _, width in parts) == cells(line)


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("abc", 3),
        ("漢字", 4),
        ("e\u0301", 1),
        ("👨\u200d👩\u200d👧\u200d👦", 2),
        ("🇩🇪", 2),
        ("👍🏽", 2),
        ("❤\ufe0f", 2),
        ("1\ufe0f\u20e3", 2),
        ("ｱ", 1),
        ("Ａ", 2),
        ("각", 2),
    ],
)
def test_width_of_text(text: str, columns: int) -> None:
    assert cells(text) == columns


@pytest.mark.parametrize("text", ["e\u0301", "👨\u200d👩\u200d👧\u200d👦", "🇩🇪", "👍🏽", "❤\ufe0f"])
def test_what_belongs_together_stays_on_one_row(text: str) -> None:
    assert set(wrap(text * 9, 2)) <= {text, text * 2, text * 3} | {text * (2 // cells(text))}


def test_rows_break_where_people_would() -> None:
    assert wrap("Hello 你好世界，这是一个测试。 foo", 10) == ["Hello 你好", "世界，这是", "一个测试。", "foo"]
    assert wrap("one two  three", 8) == ["one two", "three"]
    assert wrap("    indented text", 10) == ["    indent", "ed text"]
    assert wrap("", 10) == [""]
    assert breaks("abcdef", 3) == [(0, 3), (3, 6)]


def test_cut_and_tabs() -> None:
    assert clip("你好世界", 5) == "你好…"
    assert clip("two\nlines", 20) == "two lines"
    assert clip("abc", 0) == ""
    assert expand("a\tb\t漢\tc") == "a   b   漢  c"
