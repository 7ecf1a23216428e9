"""Single rules, and what holds for any text."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes_core.types import CallDelta, Done, Message, Request, Text
from hermes_provider_offline.outputs import file_text, headings, hits, listing
from hermes_provider_offline.plan import CALLS, plan_of
from hermes_provider_offline.provider import Offline
from hermes_provider_offline.words import content_words, likeness

if TYPE_CHECKING:
    World = Any


def kinds(text: str) -> list[str]:
    return [step.kind for step in plan_of(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("list the files; read a.md\nand count its lines", ["list", "read", "count"]),
        ("1. list the files\n2. read a.md", ["list", "read"]),
        ("- list the files\n- read a.md", ["list", "read"]),
        ("Please could you read a.md for me?", ["read"]),
        ("remember that I like to list files and read books", ["remember"]),
        ("remember that I like tea. Then list the files.", ["remember", "list"]),
        ("do you remember my name?", ["question"]),
        ("don't forget that the key is under the mat", ["remember"]),
        ("forget my cat", ["forget"]),
        ("$ echo hi; echo there", ["run", "run"]),
        ("`git log`", ["run"]),
        ("`README.md`", ["read"]),
        ("git status", ["run"]),
        ("run the tests", ["run_unclear"]),
        ("what did we talk about yesterday?", ["sessions"]),
        ("recent sessions please, list them", ["unknown"]),
        ("list recent conversations", ["sessions"]),
        ("how many lines does a.md have", ["count"]),
        ("look for TODO in README.md", ["search"]),
        ('search for "then list" in src', ["search"]),
        ("my dog is called Rex", ["statement"]),
        ("thanks!", ["thanks"]),
        ("", []),
        ("...", ["unknown"]),
    ],
)
def test_a_text_is_taken_apart(text: str, expected: list[str]):
    assert kinds(text) == expected


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("write 'a, and then b' to x.txt", "text", "a, and then b"),
        ("save “hello world” as notes/a.txt", "path", "notes/a.txt"),
        ("create a file called b.py with `print(1)`", "text", "print(1)"),
        ("write to c.txt: one two", "text", "one two"),
        ("create an empty file d.txt", "path", "d.txt"),
        ("append - milk to list.md", "text", "- milk"),
        ("replace one with two in f.txt", "other", "two"),
        ("search for def main in the src folder", "path", "src"),
        ('run python -c "print(1)"', "text", 'python -c "print(1)"'),
        ("what did we say about the cats last week?", "text", "the cats"),
        ("read 메모.txt", "path", "메모.txt"),
        ("메모.txt 읽어줘", "path", "메모.txt"),
        ("读取README.md", "path", "README.md"),
        ("show me the last 7 lines of x.log", "number", 7),
    ],
)
def test_a_rule_finds_what_it_is_about(text: str, field: str, value: object):
    assert getattr(plan_of(text)[0], field) == value


def test_a_listing_is_read_with_and_without_sizes():
    rows = listing("src/\n.git/ (not shown)\na b.txt\nREADME.md  1,234 bytes\n- c.md (2 KB)\n[3 more; list a folder]")
    assert [(e.name, e.size, e.folder) for e in rows] == [
        ("src", -1, True),
        (".git", -1, True),
        ("a b.txt", -1, False),
        ("README.md", 1234, False),
        ("c.md", 2048, False),
    ]


@pytest.mark.parametrize("mark", ["|", "\t", ": ", "→"])
def test_line_numbers_are_taken_away(mark: str):
    text = file_text(f"   1{mark}one\n   2{mark}2|two\n[lines 1-2 of 1,002; go on with offset=3]")
    assert list(text.lines) == ["one", "2|two"]
    assert (text.whole, text.onward, text.total) == (False, 3, 1002)


def test_a_text_that_begins_with_numbers_is_not_a_numbered_file():
    assert list(file_text("3|x\n9|y").lines) == ["3|x", "9|y"]
    assert list(file_text("plain\ntext\n").lines) == ["plain", "text"]


def test_matches_are_read_in_both_layouts():
    flat = hits("src/a.py:3: # TODO\n./b.py:10:x")
    grouped = hits("src/a.py\n  3|# TODO\n  4-context\nb.py\n  10|x\n[more than 50 matches; narrow it]")
    assert [(h.path, h.line, h.text) for h in flat] == [(h.path, h.line, h.text) for h in grouped]


def test_headings_are_not_found_in_code():
    text = "Title\n=====\n\n```sh\n# no\n```\n## Two ##\n~~~\n# no\n```\n~~~\nThree\n---\n"
    assert headings(text.split("\n")) == ["# Title", "## Two", "## Three"]


def test_likeness_looks_at_what_a_question_is_about():
    assert content_words("What is my cat's name?") == ["cat"]
    assert likeness("what is my cat called?", "my cat is called Mia") == 1
    assert likeness("what is my cat called?", "the dog is called Rex") == 0
    assert likeness("고양이 이름이 뭐야", "내 고양이 이름은 미아") == 1


SPEECH = """
list the files read write hello to notes.txt a.md then and ; , . it search for TODO in src count per file run `ls`
remember that forget my cat what is called longest .md headings append 'x y' replace with by $ ? 1. - use tool
add " “ ” ``` 파일 읽어줘 読んで 读取 ( ) * \\ [ ]
"""
WORDS = st.sampled_from([*SPEECH.split(), "\n", "\x00", "\ue000", "\ue0000\ue001"])
TEXTS = st.one_of(st.text(max_size=300), st.lists(WORDS, max_size=25).map(" ".join))


OUTPUTS = ["", "No match.", "1|x\n2|y", "a.md\n  1|b", "Nothing", "{", '{"content": "x"}']
HOSTILE = [
    "`" * 3000,
    "read " * 390,
    "\n" * 12_000,
    "“" * 5000,
    "a" * 1999,
    "," * 1999,
    "say " * 400 + "we",
    "x" * 20_000,
]


@given(TEXTS)
async def test_any_text_gives_a_stream_with_one_done(text: str):
    request = Request(model="rules-1", messages=(Message(role="user", parts=(Text(text=text),)),))
    deltas = [d async for d in Offline().stream(request)]
    assert [i for i, d in enumerate(deltas) if isinstance(d, Done)] == [len(deltas) - 1]
    assert len(deltas) > 2
    assert not [d for d in deltas if isinstance(d, CallDelta)]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    TEXTS,
    st.sampled_from(["", "No match.", "1|x\n2|y", "a.md\n  1|b", "Nothing", "{", '{"content": "x"}']),
    st.booleans(),
)
async def test_any_turn_ends_and_repeats_no_call(world: "World", text: str, output: str, failed: bool):
    world.history.clear()
    world.run = lambda name, arguments: world.calls.append((name, arguments)) or (output, failed)
    answer = await world.ask(text)
    assert answer
    assert len(world.calls) <= CALLS
    assert not repeats(world.calls)


def repeats(calls: Sequence[tuple[str, Any]]) -> list[Any]:
    """Calls made again although nothing was changed since."""
    known: list[Any] = []
    found = []
    for call in calls:
        if call in known:
            found.append(call)
        changing = call[0] in ("write_file", "edit_file", "terminal", "memory")
        known = [call] if changing else [*known, call]
    return found


@pytest.mark.parametrize(
    "text", ["`" * 3000, "read " * 3000, "\n" * 12_000, "“" * 5000, "a" * 15_999, "," * 15_000, "x" * 20_000]
)
async def test_hostile_texts_are_answered(text: str):
    request = Request(model="rules-1", messages=(Message(role="user", parts=(Text(text=text),)),))
    assert [d async for d in Offline().stream(request)]
