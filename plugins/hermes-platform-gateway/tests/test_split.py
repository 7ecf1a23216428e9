"""A long message in pieces that a platform takes."""

import re
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hermes_core.testing import FakePlatform
from hermes_core.types import Feature, Location, Message, Poll, Text
from hermes_platform_gateway.outward.pieces import is_text, marked, pieces_of, text_of
from hermes_platform_gateway.outward.split import split_text

FENCE = re.compile(r"^ *(`{3,}|~{3,})[^`\n]*$", re.MULTILINE)


def utf16(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def words(text: str) -> str:
    """What a text says: all of it but white space and the lines that open and close code blocks."""
    return "".join(FENCE.sub("", text).split())


def test_short_text_is_one_piece() -> None:
    assert split_text("hello", 100) == ["hello"]
    assert split_text("x" * 5000, 0) == ["x" * 5000]


def test_it_is_cut_between_paragraphs_first() -> None:
    assert split_text("aaaa bbbb cccc\n\ndddd eeee", 24) == ["aaaa bbbb cccc", "dddd eeee"]


def test_a_code_block_is_closed_and_opened_again() -> None:
    pieces = split_text("```python\n" + "x = 1\n" * 30 + "```\nend", 80)
    assert all(p.count("```") % 2 == 0 for p in pieces)
    assert all(p.startswith("```python\nx") and p.endswith("1\n```") for p in pieces[:-1])


@pytest.mark.parametrize(
    ("text", "limit", "pieces"),
    [
        pytest.param(
            "Here it is, in short:\n\n```py\na = 1\nb = 2\n```\nThat was all.",
            40,
            ["Here it is, in short:", "```py\na = 1\nb = 2\n```\nThat was all."],
            id="a code block that fits stays whole",
        ),
        pytest.param(
            "~~~\nfirst line\n    set in\n~~~",
            26,
            ["~~~\nfirst line\n~~~", "~~~\n    set in\n~~~"],
            id="code keeps how far it is set in",
        ),
        pytest.param(
            "````md\n```\nin a block\n```\nlast one\n````",
            36,
            ["````md\n```\nin a block\n```\n````", "````md\nlast one\n````"],
            id="a fence in a longer fence is code",
        ),
        pytest.param(
            "Some words first.\n# A heading\nthe text below it is long",
            40,
            ["Some words first.", "# A heading\nthe text below it is long"],
            id="a heading stays with what it heads",
        ),
        pytest.param(
            "- the first item\n- the second item\n  goes on\n- the third",
            40,
            ["- the first item", "- the second item\n  goes on\n- the third"],
            id="a list is cut before an item",
        ),
        pytest.param(
            "What it costs is here.\n| a | b |\n|---|---|\n| 1 | 2 |",
            40,
            ["What it costs is here.", "| a | b |\n|---|---|\n| 1 | 2 |"],
            id="a table that fits stays whole",
        ),
        pytest.param(
            "Read on at [the manual](https://example.org/a) now",
            34,
            ["Read on at", "[the", "manual](https://example.org/a) now"],
            id="a link that is longer than a message is cut",
        ),
        pytest.param(
            "Have a look at [the page](http://x.org/a) now",
            36,
            ["Have a look at", "[the page](http://x.org/a) now"],
            id="a link that fits stays whole",
        ),
        pytest.param("then run `git commit -a` again", 22, ["then run", "`git commit -a` again"], id="inline code"),
        pytest.param("this is **very much so** yes", 22, ["this is", "**very much so** yes"], id="bold"),
        pytest.param("One is done. Two is not yet", 24, ["One is done.", "Two is not yet"], id="a sentence"),
        pytest.param("👨‍👩‍👧" * 6, 20, ["👨‍👩‍👧" * 4, "👨‍👩‍👧" * 2], id="a family stays together"),
        pytest.param("🇩🇪" * 15, 21, ["🇩🇪" * 10, "🇩🇪" * 5], id="flags are no halves"),
        pytest.param("a\u0301" * 14, 21, ["a\u0301" * 10, "a\u0301" * 4], id="accents stay on their letters"),
    ],
)
def test_it_is_cut_where_a_reader_would_turn_the_page(text: str, limit: int, pieces: list[str]) -> None:
    assert split_text(text, limit) == pieces


def test_a_service_may_count_in_its_own_way() -> None:
    pieces = split_text("🦊" * 25, 20, utf16)
    assert [utf16(p) for p in pieces] == [20, 20, 10]


MARKDOWN = st.lists(
    st.sampled_from(
        [
            "a",
            "bb ",
            "ccc. ",
            "\n",
            "\n\n",
            "```py\n",
            "```\n",
            "~~~~\n",
            "````",
            "`x y`",
            "**b c**",
            "[l](http://x)",
            "| 1 | 2 |\n",
            "- item\n",
            "# head\n",
            "    ",
            "한국",
            "🙂",
            "👩\u200d🚀",
            "é",
            "\r\n",
            "_i_",
            "`",
            "*",
            "\u2028",
            "|",
        ]
    ),
    max_size=120,
).map("".join)


@settings(max_examples=600)
@example("```\n" * 40, 20, True)
@example(" " * 90, 30, False)
@given(MARKDOWN, st.integers(20, 120), st.booleans())
def test_pieces_fit_and_say_the_same(text: str, limit: int, wide: bool) -> None:
    length = utf16 if wide else len
    pieces = split_text(text, limit, length)
    assert all(length(p) <= limit for p in pieces)
    assert words("\n".join(pieces)) == words(text) or "`" in text or "~" in text
    if re.search(r"(`{3}|~{3}) ?(?!py\b)[\w+#.-]", text):  # the name of a language is said again in the next piece
        return
    letters = [c for c in "\n".join(pieces) if c not in "`~py\n \r\u2028"]
    assert letters == [c for c in text if c not in "`~py\n \r\u2028"]
    assert all(p.strip() for p in pieces) or not text.strip()
    assert not [p for p in pieces[1:] if unicodedata.category(p[0]) in ("Mn", "Me")]


@settings(max_examples=300)
@given(
    st.lists(st.tuples(st.sampled_from(["", "py", "c++"]), st.lists(st.text("xyz =()", max_size=30), max_size=12))),
    st.integers(24, 120),
)
@pytest.mark.long
def test_every_piece_has_as_many_fences_opened_as_closed(blocks, limit) -> None:
    text = "\n\n".join(f"Look:\n```{language}\n" + "\n".join(lines) + "\n```" for language, lines in blocks)
    for piece in split_text(text, limit):
        assert len(FENCE.findall(piece)) % 2 == 0
    assert words("\n".join(split_text(text, limit))) == words(text)


POLL, PLACE = Poll(question="When?", choices=["now", "then"]), Location(latitude=1, longitude=2, title="Here")


def test_polls_and_places_go_alone_where_they_are_known_and_in_words_elsewhere() -> None:
    message = Message(role="assistant", parts=(Text(text="Vote."), POLL, PLACE))
    (piece,) = pieces_of(message, FakePlatform())
    assert text_of(piece) == f"Vote.\n\n{POLL.text}\n\n{PLACE.text}"
    words, place = pieces_of(message, FakePlatform(features=[Feature.LOCATIONS]))
    assert (text_of(words), place.parts) == (f"Vote.\n\n{POLL.text}", (PLACE,))
    knows = FakePlatform(features=[Feature.LOCATIONS, Feature.POLLS])
    words, *alone = pieces_of(message, knows)
    assert (text_of(words), [one.parts for one in alone]) == ("Vote.", [(POLL,), (PLACE,)])
    assert [marked(one, knows) for one in alone] == alone, "a mark would take the place of the poll"
    assert not any(map(is_text, alone))


def test_a_hopeless_limit_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot hold"):
        split_text("x" * 50, 10)
