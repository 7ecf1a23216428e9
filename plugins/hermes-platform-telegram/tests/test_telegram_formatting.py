"""Whatever a model writes, Telegram takes it; and what it shows is what was meant."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from telegram_grammar import problems

from hermes_platform_telegram.entities import Entity, Formatted, clean, cut, lawful, units
from hermes_platform_telegram.formatting import formatted

MARKS = st.sampled_from(
    [
        *(
            "*",
            "**",
            "***",
            "_",
            "__",
            "`",
            "``",
            "```",
            "```py\n",
            "~~",
            "~",
            "\\",
            "&amp;",
            "<b>",
            "</b>",
            "word",
            ".",
        ),
        *(
            "[",
            "](",
            ")",
            "](http://a.b/c)",
            "![",
            "<",
            ">",
            "> ",
            "\n",
            "\n\n",
            "# ",
            "## ",
            "- ",
            "1. ",
            "10) ",
            "    ",
        ),
        *("\t", "|", "|---|\n", "| a | b |\n|---|---|\n| 1 | 2 |\n", "---", "===", "@name", "/cmd", "#tag", " "),
        *(
            "🦊",
            "👨\u200d👩\u200d👧",
            "e\u0301",
            "안녕",
            "\u202e",
            "\u200b",
            "\x00",
            "\x1b[31m",
            "\r\n",
            "\ud83e",
            "\udd8a",
        ),
        *("http://x.y", "<http://x.y>", "<a@b.c>", "javascript:alert(1)", "tg://user?id=1"),
    ]
)
NAUGHTY = st.lists(MARKS | st.text(max_size=5), max_size=60).map("".join)


def as_sent(text):
    return [e.to_json() for e in text.entities]


@given(NAUGHTY)
def test_what_is_made_of_any_text_is_taken(markdown):
    found = formatted(markdown, limit=4096)
    if clean(markdown).strip():
        assert problems(found.text, as_sent(found)) == []


@given(NAUGHTY, st.integers(20, 80))
def test_pieces_of_any_text_are_taken_and_nothing_is_lost(markdown, limit):
    whole = formatted(markdown, limit=limit)
    pieces = cut(whole, limit)
    assert "".join(p.text for p in pieces) == whole.text
    assert all(units(p.text) <= limit for p in pieces)
    for piece in pieces:
        assert [w for w in problems(piece.text, as_sent(piece)) if w != "message text is empty"] == []


ENTITY = st.builds(
    lambda kind, start, size: Entity(kind, start, start + size, "http://a.b/" if kind == "text_link" else ""),
    st.sampled_from(["bold", "italic", "strikethrough", "code", "pre", "blockquote", "text_link"]),
    st.integers(0, 12),
    st.integers(0, 8),
)


@given(st.lists(ENTITY, max_size=12))
def test_what_is_lawful_keeps_to_the_rules_however_it_was_mixed(entities):
    found = lawful("x" * 20, entities)
    assert problems(found.text, as_sent(found)) == []


@given(NAUGHTY)
def test_what_fits_as_written_fits_as_shown(markdown):
    limit = max(units(clean(markdown)), 1)
    assert units(formatted(markdown, limit=limit).text) <= limit


@given(st.text())
def test_length_is_in_utf16_units(text):
    text = clean(text)
    assert units(text) == len(text.encode("utf-16-le")) // 2


@pytest.mark.parametrize(
    ("markdown", "text", "entities"),
    [
        ("plain", "plain", []),
        ("**b** *i* ~~s~~ `c`", "b i s c", [("bold", 0, 1), ("italic", 2, 1), ("strikethrough", 4, 1), ("code", 6, 1)]),
        ("🦊 **b**", "🦊 b", [("bold", 3, 1)]),
        ("# T *i*\ntext", "T i\n\ntext", [("bold", 0, 3), ("italic", 2, 1)]),
        ("**a `c` b**", "a c b", [("bold", 0, 2), ("code", 2, 1), ("bold", 3, 2)]),
        ("```py\nx = 1\n```", "x = 1", [("pre", 0, 5, "py")]),
        ("- a\n- b\n  - c", "• a\n• b\n  • c", []),
        ("3. a\n4. b", "3. a\n4. b", []),
        ("> q\n> r", "q\nr", [("blockquote", 0, 3)]),
        ("[l](http://e.org/x)", "l", [("text_link", 0, 1, "http://e.org/x")]),
        ("[l](ftp://e.org/x)", "l (ftp://e.org/x)", []),
        ("[l](http://u:p@e.org/)", "l (http://u:p@e.org/)", []),
        ("<http://e.org>", "http://e.org", []),
        ("![cat](http://e.org/c.png)", "cat", [("text_link", 0, 3, "http://e.org/c.png")]),
        ("<b>&amp;</b>", "<b>&amp;</b>", []),
        ("snake_case_name 2*3*4", "snake_case_name 234", [("italic", 17, 1)]),
        ("| a | bb |\n|---|---|\n| 1 | 2 |", "a  bb\n─  ──\n1  2", [("pre", 0, 16)]),
        ("***", "———", []),
        ("    /help   all", "/help   all", [("pre", 0, 11)]),
        ("unfinished **bold", "unfinished **bold", []),
        ("```\nunfinished", "unfinished", [("pre", 0, 10)]),
        ("[]()", "[]()", []),
    ],
)
def test_markdown_is_shown_as_what_it_means(markdown, text, entities):
    found = formatted(markdown, limit=4096)
    kinds = [tuple(v for v in (e.kind, e.start, e.end - e.start, e.more) if v != "") for e in found.entities]
    assert (found.text, kinds) == (text, entities)


def test_a_table_too_wide_for_the_limit_is_shown_as_written():
    markdown = f"| a | {'b' * 40} |\n|---|---|\n" + "| 1 | 2 |\n" * 5
    assert formatted(markdown, limit=units(markdown)).text == markdown
    assert "│" not in formatted(markdown, limit=4096).text


def test_pieces_end_at_lines_and_then_at_words():
    assert [p.text for p in cut(Formatted("aaaa bbbb\ncccc dddd"), 12)] == ["aaaa bbbb\n", "cccc dddd"]
    assert [p.text for p in cut(Formatted("aaaaaaa bbbb cccc"), 10)] == ["aaaaaaa ", "bbbb cccc"]
    assert [p.text for p in cut(Formatted("🦊" * 5), 4)] == ["🦊🦊", "🦊🦊", "🦊"]
