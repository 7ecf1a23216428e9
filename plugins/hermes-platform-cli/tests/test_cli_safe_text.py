"""Nothing a model, page or tool says may drive the terminal."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hermes_core.testing import Steps
from hermes_platform_cli.width import cells, clip, last_rows, wrap
from hermes_platform_kit.clean import Cleaner, clean, exact, whole

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
NASTY = st.text(
    st.sampled_from("a\x1b[]m0;\x07\\\n\r\t\x9b\x9d\x9c\x00\u202e\ud83d\ude00Pq日\u200d\x85?h"), max_size=60
)

CASES = {
    "\x1b[31mred\x1b[0m": "red",
    "\x1b[2J\x1b[Hgone": "gone",
    "\x1b]0;title\x07text": "text",
    "\x1b]8;;http://evil\x1b\\click\x1b]8;;\x1b\\": "click",
    "\x1b]52;c;ZXZpbA==\x07": "",
    "\x1bP1$r\x1b\\after": "after",
    "\x9b31mc1": "c1",
    "one\r\ntwo\rthree": "one\ntwo\nthree",
    "bell\x07 back\x08 nul\x00 del\x7f": "bell back nul del",
    "left\u202eright\u2066": "leftright",
    "half \ud83d end": "half \ufffd end",
    "pair \ud83d\ude00": "pair 😀",
    "tab\tkept\nline": "tab\tkept\nline",
    "שלום مرحبا": "שלום مرحبا",
    "\x1b]0;never ended\nbut shown": "0;never ended\nbut shown",
}


@pytest.mark.parametrize(("dirty", "wanted"), CASES.items())
def test_text_is_shown_without_what_drives_a_terminal(dirty: str, wanted: str) -> None:
    assert clean(dirty) == wanted


@given(st.one_of(st.text(), NASTY))
def test_no_control_character_survives(text: str) -> None:
    assert not CONTROL.search(clean(text))
    assert clean(clean(text)) == clean(text)


@given(NASTY, st.integers(1, 7))
def test_a_sequence_cut_anywhere_is_still_no_sequence(text: str, size: int) -> None:
    cleaner = Cleaner()
    shown = "".join(cleaner.feed(text[i : i + size]) for i in range(0, len(text), size)) + cleaner.finish()
    assert not CONTROL.search(shown)


@given(NASTY, st.lists(st.integers(1, 7), max_size=30))
def test_pieces_are_shown_like_the_whole_in_few_steps(text: str, sizes: list[int]) -> None:
    cleaner, shown, at = Cleaner(), "", 0
    with Steps(len(text), each=30):
        for size in [*sizes, len(text) + 1]:
            shown += cleaner.feed(text[at : at + size])
            at += size
        assert shown + cleaner.finish() == clean(text)


@pytest.mark.parametrize("unit", ["\x9d", "\x90\x9b"])
def test_beginnings_of_sequences_without_an_end_are_looked_through_soon(unit: str) -> None:
    assert not CONTROL.search(clean(unit * 1_500_000))


def test_a_sequence_in_two_pieces_leaves_no_crumbs() -> None:
    cleaner = Cleaner()
    assert (
        cleaner.feed("a\x1b[3") + cleaner.feed("1mb\x1b") + cleaner.feed("]0;t\x07c\r") + cleaner.feed("\nd")
        == "abc\nd"
    )


def test_a_question_shows_what_hides() -> None:
    assert exact("rm \u202ea\x1b[2J\u200b\xa0\U000e0041\tb\n") == "rm \\u202ea\\x1b[2J\\u200b\\xa0\\U000e0041\\x09b\n"
    assert exact("rm -rf /tmp/日本語 é") == "rm -rf /tmp/日本語 é"


@given(st.text())
def test_what_is_sent_can_be_stored(text: str) -> None:
    assert "\0" not in whole(text)
    whole(text + "\ud800").encode()


@pytest.mark.parametrize(
    ("text", "width"),
    [("abc", 3), ("日本", 4), ("é", 1), ("e\u0301", 1), ("👩\u200d👩\u200d👧", 2), ("\u200b", 0), ("한국", 4)],
)
def test_columns_are_counted_as_they_are_drawn(text: str, width: int) -> None:
    assert cells(text) == width


@given(st.text(st.sampled_from("ab 日é\u0301\u200d👩 \t"), max_size=80), st.integers(4, 30))
@example(" aaa日", 4)
def test_rows_fit_and_lose_nothing_but_spaces(text: str, width: int) -> None:
    rows = wrap(text, width)
    assert all(cells(row) <= width for row in rows)
    assert "".join(rows).replace(" ", "") == text.replace("\t", "").replace(" ", "")
    assert cells(clip(text, width)) <= width


def test_words_stay_whole_where_they_fit() -> None:
    assert wrap("alpha beta gamma", 11) == ["alpha beta", "gamma"]
    assert wrap("abcdefghij", 4) == ["abcd", "efgh", "ij"]
    assert wrap("日本語のテキスト", 6) == ["日本語", "のテキ", "スト"]
    assert last_rows(["one", "two three"], 5, 2) == ["two", "three"]
    assert clip("日本語のテキスト", 7) == "日本語…"
