"""Words are found in any writing, and nothing that is typed is syntax."""

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_fulltext.words import LONGEST_QUERY, cut_words, index_words, phrases_of, quoted, snippet

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=60)


class Index:
    """An index as the store has it: without contents, so that a row goes by its words."""

    def __init__(self) -> None:
        self._rows = sqlite3.connect(":memory:")
        self._rows.execute(
            "CREATE VIRTUAL TABLE search USING "
            "fts5(words, content='', columnsize=0, tokenize='unicode61 remove_diacritics 2')"
        )

    def add(self, row: int, text: str, owner: int = 1) -> None:
        self._rows.execute("INSERT INTO search (rowid, words) VALUES (?, ?)", (row, index_words(text, owner)))

    def drop(self, row: int, text: str, owner: int = 1) -> None:
        values = (row, index_words(text, owner), "delete")
        self._rows.execute("INSERT INTO search (rowid, words, search) VALUES (?, ?, ?)", values)

    def find(self, words: str, owner: int | None = 1) -> list[int]:
        if not (phrases := phrases_of(words, owner)):
            return []
        found = self._rows.execute("SELECT rowid FROM search WHERE search MATCH ?", (quoted(phrases),))
        return [row for (row,) in found]


@pytest.fixture
def index() -> Index:
    return Index()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("우리나라 대한민국만세", "민국"),
        ("我喜欢吃苹果和香蕉", "香"),
        ("Crème BRÛLÉE", "creme brulee"),
        ("foo.bar_baz", "bar"),
    ],
)
def test_a_part_of_a_text_is_found(index: Index, text: str, words: str) -> None:
    index.add(1, text)
    index.add(2, "something else entirely")
    assert index.find(words) == [1]


def test_an_owner_finds_their_own_alone_and_no_text_names_one(index: Index) -> None:
    index.add(1, "tea")
    index.add(2, "tea é \ue0001", owner=2)
    assert (index.find("tea", 1), index.find("tea", 2), index.find("tea", None)) == ([1], [2], [1, 2])


@given(TEXT, TEXT)
def test_nothing_typed_is_syntax_and_what_was_added_can_be_taken_out(text: str, words: str) -> None:
    index = Index()
    index.add(1, text)
    index.find(words)
    index.drop(1, text)
    assert index.find(text) == []


def test_what_is_beyond_the_longest_question_is_not_asked() -> None:
    long = "a" * LONGEST_QUERY
    assert phrases_of(f"{long} beyond", None) == [long]


def test_words_are_cut_and_folded_as_fts5_does_it() -> None:
    assert cut_words("Crème-BRÛLÉE, 3x") == " creme brulee 3x "
    assert phrases_of("Crème", 7, cut=True) == [" creme ", " \ue0007 "]


@pytest.mark.parametrize(
    ("text", "words", "shown"),
    [
        ("a b c", "b", "a >>>b<<< c"),
        ("대한민국만세", "민국", "대한>>>민국<<<만세"),
        ("Café au lait", "cafe", ">>>Café<<< au lait"),
        ("ｆｕｌｌ", "full", ">>>ｆｕｌｌ<<<"),
        ("party art", "art", "party >>>art<<<"),
        ("x" * 100 + " word " + "y" * 300, "word", "…" + "x" * 59 + " >>>word<<< " + "y" * 155 + "…"),
    ],
)
def test_a_snippet_shows_the_words_where_they_are(text: str, words: str, shown: str) -> None:
    assert snippet(text, words) == shown
