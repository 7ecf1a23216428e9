"""Words are found in any writing, and nothing that is typed is syntax."""

import re
import sqlite3
import time
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_fulltext.asked import asked
from hermes_fulltext.dates import named_time
from hermes_fulltext.forms import forms_of
from hermes_fulltext.marks import Marks
from hermes_fulltext.words import LONGEST_QUERY, OWNER, cut_words, index_words, quoted

NOW = time.mktime((2026, 11, 28, 12, 0, 0, 0, 0, -1))  # a Saturday
WORD = re.compile(r"[^\W_]+")
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
        """Return what holds all that is asked for."""
        groups = [term.phrases for term in asked(words, NOW).terms]
        if not groups:
            return []
        query = quoted([*groups, *([[f"{OWNER}{owner}"]] if owner is not None else [])])
        found = self._rows.execute("SELECT rowid FROM search WHERE search MATCH ?", (query,))
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
    assert [term.phrases for term in asked(f"{long} beyond", NOW).terms] == [(long,)]


def test_words_are_cut_and_folded_as_fts5_does_it() -> None:
    assert cut_words("Crème-BRÛLÉE, 3x") == " creme brulee 3x "


@pytest.mark.parametrize(
    ("asks", "said"),
    [
        ("groups", "group"),
        ("moved", "moving"),
        ("studies", "studied"),
        ("planning", "plan"),
        ("decided", "decide"),
        ("combination", "combine"),
        ("went", "going"),
        ("children", "child"),
        ("colors", "colour"),
        ("boxes", "box"),
        ("Running", "ran"),
    ],
)
def test_a_word_has_the_forms_in_which_it_is_said(asks: str, said: str) -> None:
    assert said in forms_of(asks)
    assert asks.casefold() == forms_of(asks)[0]


@pytest.mark.parametrize("word", ["bus", "news", "x", "café", "a1b2", "東京"])
def test_what_is_no_other_word_has_no_other_forms(word: str) -> None:
    assert not {"bu", "new", "cafes"} & set(forms_of(word))


@given(st.text(st.characters(codec="ascii", categories=["Ll"]), min_size=1, max_size=30))
def test_a_word_has_few_forms_and_is_the_first_of_them(word: str) -> None:
    assert forms_of(word)[0] == word
    assert len(forms_of(word)) <= 40


@pytest.mark.parametrize(
    ("words", "terms"),
    [
        ("what did we say about the budget?", ["budget"]),
        ("to be or not to be", ["to", "be", "or", "not"]),
        ("Caroline's café", ["caroline", "café"]),
        ("call foo.bar_baz", ["call", "foo.bar_baz", "foo", "bar", "baz"]),
        ('the "red kite" flies', ["red kite", "flies"]),
        ('an "open quote', ["open", "quote"]),
        ("3.12", ["3.12"]),
        ("치과 예약은 언제였지?", ["치과", "치", "예약"]),  # it may end as a particle does
        ("회의가 언제", ["회의"]),
        ("가을인가", ["가을", "가"]),
        ("会议是什么时候", ["会议", "议是"]),
        ("", []),
        ("?!", []),
    ],
)
def test_a_question_is_its_telling_words(words: str, terms: list[str]) -> None:
    assert [term.shown[0] for term in asked(words, NOW).terms] == terms


@pytest.mark.parametrize(
    ("words", "first", "days"),
    [
        ("what we said last week", date(2026, 11, 16), 7),
        ("this week's plan", date(2026, 11, 23), 7),
        ("on Tuesday", date(2026, 11, 24), 1),
        ("last Saturday", date(2026, 11, 21), 1),
        ("in March", date(2026, 3, 1), 31),
        ("in December", date(2025, 12, 1), 31),
        ("in March 2024", date(2024, 3, 1), 31),
        ("8 May, 2023", date(2023, 5, 8), 1),
        ("on May 8th", date(2026, 5, 8), 1),
        ("2024-02-29", date(2024, 2, 29), 1),
        ("3 days ago", date(2026, 11, 25), 1),
        ("yesterday", date(2026, 11, 27), 1),
        ("in 2023", date(2023, 1, 1), 365),
        ("어제 말한 것", date(2026, 11, 27), 1),
        ("지난주에", date(2026, 11, 16), 7),
        ("3월에", date(2026, 3, 1), 31),
        ("先週の会議", date(2026, 11, 16), 7),
        ("上周开会", date(2026, 11, 16), 7),
        ("昨天", date(2026, 11, 27), 1),
        ("3天前", date(2026, 11, 25), 1),
    ],
)
def test_a_time_is_understood_as_people_name_it(words: str, first: date, days: int) -> None:
    named = named_time(words, NOW)
    assert named is not None
    assert date(*time.localtime(named.since)[:3]) == first
    assert date(*time.localtime(named.until)[:3]) == first + timedelta(days)


@pytest.mark.parametrize("words", ["", "may I march on", "2024-02-31", "99999999 days ago", "second hand", "the sun"])
def test_what_names_no_time_names_none(words: str) -> None:
    assert named_time(words, NOW) is None


@given(st.text(max_size=80))
def test_any_text_can_be_asked(words: str) -> None:
    for term in asked(words, NOW).terms:
        assert all(phrase.strip() and '"' not in phrase for phrase in term.phrases)


@pytest.mark.parametrize(
    ("text", "words", "shown"),
    [
        ("a b c", "b", "a >>>b<<< c"),
        ("대한민국만세", "민국", "대한>>>민국<<<만세"),
        ("Café au lait", "cafe", ">>>Café<<< au lait"),
        ("ｆｕｌｌ", "full", ">>>ｆｕｌｌ<<<"),
        ("party art", "art", "party >>>art<<<"),
        ("they grouped us", "groups", "they >>>grouped<<< us"),
        ("call foo-bar now", "foo.bar", "call >>>foo-bar<<< now"),
        ("x" * 100 + " word " + "y" * 300, "word", "…" + "x" * 59 + " >>>word<<< " + "y" * 155 + "…"),
        ("red " + "x " * 200 + "a red kite", "red kite", "…" + "x " * 29 + "a >>>red<<< >>>kite<<<"),
    ],
)
def test_a_snippet_shows_where_most_of_the_words_are(text: str, words: str, shown: str) -> None:
    assert Marks(asked(words, NOW).terms).snippet(text) == shown


@given(TEXT, TEXT)
def test_a_snippet_is_of_the_text(text: str, words: str) -> None:
    shown = Marks(asked(words, NOW).terms).snippet(text)
    plain = shown.replace(">>>", "").replace("<<<", "").strip("…")
    assert len(plain) <= len(text)
    assert "".join(plain.split()) in "".join(text.replace(">>>", "").replace("<<<", "").split())


WORDS = st.text(st.sampled_from("abAB1_- .,"), max_size=60)


@given(WORDS, WORDS)
def test_words_are_marked_where_they_stand_as_words(words: str, text: str) -> None:
    marks = Marks(asked(words, NOW).terms)
    whole = [
        (m.start(), m.end(), marks._words[m[0].lower()]) for m in WORD.finditer(text) if m[0].lower() in marks._words
    ]
    if not marks._phrases:
        assert marks.spans(text) == whole
    elsewhere = marks.spans(f"{text} é")  # a text that is not all ASCII goes the other way
    assert marks.spans(text) == elsewhere
