"""What is a reference and what is not, over texts that people write and texts that nobody would."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_tool_references.found import Found, block
from hermes_tool_references.parsing import Reference, references


def one(text: str) -> tuple[str, str, int, int]:
    (found,) = references(text)
    return found.kind, found.value, found.first, found.last


@pytest.mark.parametrize(
    ("text", "kind", "value", "first", "last"),
    [
        ("look at @file:src/x.py", "file", "src/x.py", 0, 0),
        ("@file:src/x.py:10", "file", "src/x.py", 10, 10),
        ("@file:src/x.py:10-20, please", "file", "src/x.py", 10, 20),
        ("@file:src/x.py:20-10", "file", "src/x.py", 10, 20),
        ("see @file:src/x.py.", "file", "src/x.py", 0, 0),
        ("(as in @file:src/x.py:3)", "file", "src/x.py", 3, 3),
        ('@file:"my notes.txt"!', "file", "my notes.txt", 0, 0),
        ('@file:"my notes.txt":2-4', "file", "my notes.txt", 2, 4),
        ("@file:a(1).txt", "file", "a(1).txt", 0, 0),
        ("**@file:x.py**", "file", "x.py", 0, 0),
        ("why is “@file:x.py” so long?", "file", "x.py", 0, 0),
        ("@folder:src/", "folder", "src/", 0, 0),
        ("@folder:. is what?", "folder", ".", 0, 0),
        ("@folder:..", "folder", "..", 0, 0),
        ("review @diff, then stop", "diff", "", 0, 0),
        ("@staged", "staged", "", 0, 0),
        ("is @git:3 good?", "git", "3", 0, 0),
        ("@url:https://example.org/a?b=c(d).", "url", "https://example.org/a?b=c(d)", 0, 0),
        ('@session:"The plan"', "session", "The plan", 0, 0),
        ("@session:default/20250101_abc", "session", "default/20250101_abc", 0, 0),
        ("@src/x.py:7?", "path", "src/x.py", 7, 7),
        ("@README", "path", "README", 0, 0),
    ],
)
def test_a_reference_is_found(text: str, kind: str, value: str, first: int, last: int) -> None:
    assert one(text) == (kind, value, first, last)


@pytest.mark.parametrize(
    "text",
    [
        "write to anna@example.org",
        "git@github.com:a/b.git",
        "@",
        "@ file:x",
        "@@x",
        "@file:",
        '@file:""',
        "@file: x",
        "@git:main",
        "@url:",
        "use `@file:x` for that",
        "```\n@diff\n@file:x\n```",
        "```\n@diff and no end",
        "foo(x)@bar",
        "100%@x",
        "...@x",
    ],
)
def test_no_reference(text: str) -> None:
    assert references(text) == []


def test_words_that_only_begin_like_a_kind_are_names() -> None:
    assert [r.kind for r in references("@different @staged/x @diffs @stagedx")] == ["path"] * 4


def test_each_is_found_once_in_the_order_of_the_text() -> None:
    found = references("@git:2 @file:b @file:a @file:b")
    assert [r.raw for r in found] == ["@git:2", "@file:b", "@file:a"]


KINDS = ("file:", "url:", "git:", "session:", "folder:", "diff", "staged")
MARKS = (
    "@",
    '"',
    "`",
    "```",
    ":",
    "1-2",
    "9" * 12,
    "(",
    ")",
    ".",
    "..",
    "/",
    " ",
    "\n",
    "\0",
    "\ud800",
    "😀",
    "'",
    "*",
)
pieces = st.sampled_from((*KINDS, *MARKS, "x", "http://", "\u202e"))


@given(st.one_of(st.text(max_size=200), st.lists(pieces, max_size=40).map("".join)))
def test_no_text_breaks_the_parser_and_what_is_found_stands_there(text: str) -> None:
    for found in references(text):
        assert isinstance(found, Reference)
        assert found.raw in text
        assert found.raw.startswith("@")
        assert found.value in found.raw
        assert found.first <= found.last < 10**9
        assert found.kind == "path" or found.raw[1:].startswith(found.kind)


@pytest.mark.parametrize("unit", ["@", "@file:", '@file:"', "`", "```", "@x.", "(@", '@x"', "`x` @y "])
@pytest.mark.few(2)
def test_a_text_made_to_be_slow_comes_to_an_end(unit: str) -> None:
    assert len(references(unit * (200_000 // len(unit)) + ")" * 200_000)) <= 1_000


@given(st.lists(st.sampled_from(["`", "```", "~~~", "\n", "x", "</untrusted>", "<note-from-user>"]), max_size=30))
def test_no_content_ends_its_fence(inner: list[str]) -> None:
    text = "".join(inner)
    lines = block(Found(label="x", title="x", text=text)).split("\n")
    fence = lines[1]
    assert set(fence) == {"`"}
    assert [n for n, line in enumerate(lines) if line.strip().startswith(fence)] == [1, len(lines) - 1]
    assert "<note-from-user>" not in "\n".join(lines)
    page = block(Found(label="x", title="x", text=text, untrusted=True))
    assert page.count("<untrusted") == page.count("</untrusted>") == 1


def test_a_name_is_one_line_whatever_is_in_it() -> None:
    shown = block(Found(label="x", title="a\n```\nrun evil\x1b[2J\u202e", text="b"))
    assert shown.split("\n")[0] == "a\\n```\\nrun evil\\x1b[2J\\u202e:"
