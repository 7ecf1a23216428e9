"""A long message in pieces that a platform takes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_core.gateway.split import split_text


def test_short_text_is_one_piece() -> None:
    assert split_text("hello", 100) == ["hello"]
    assert split_text("x" * 5000, 0) == ["x" * 5000]


def test_it_is_cut_between_paragraphs_first() -> None:
    assert split_text("aaaa bbbb cccc\n\ndddd eeee", 24) == ["aaaa bbbb cccc", "dddd eeee"]


def test_a_code_block_is_closed_and_opened_again() -> None:
    pieces = split_text("```python\n" + "x = 1\n" * 30 + "```\nend", 80)
    assert all(p.count("```") % 2 == 0 for p in pieces)
    assert all(p.startswith("```python") for p in pieces[:-1])


@given(st.text(alphabet=st.sampled_from("ab \n`한🙂"), max_size=600), st.integers(20, 200))
def test_no_piece_is_too_long_and_no_word_is_lost(text: str, limit: int) -> None:
    pieces = split_text(text, limit)
    assert all(len(p) <= limit for p in pieces)
    letters = [c for c in "".join(pieces) if c in "ab한🙂"]
    assert letters == [c for c in text if c in "ab한🙂"] or "```" in text


def test_a_hopeless_limit_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot hold"):
        split_text("x" * 50, 10)
