"""One entry changes; every other character stays."""

import pytest
import yaml

from hermes_yaml_edit.document import Document, Unreadable
from hermes_yaml_edit.edit import Refused, removed, replaced

TEXT = "a:   # one\n  b:   50   # two\n  c: [1, 2]\nd: {e: 1, f: 2}\n"


def test_a_value_is_replaced_added_and_removed() -> None:
    root = yaml.compose(TEXT)
    assert replaced(TEXT, root, ["a", "b"], 70) == TEXT.replace("50", "70")
    assert replaced(TEXT, root, ["d", "g"], True) == TEXT.replace("f: 2", "f: 2, g: true")
    assert replaced("", None, ["a", "b"], "x") == "a:\n  b: x\n"
    assert removed(TEXT, root, ["d", "e"]) == TEXT.replace("e: 1, ", "")


@pytest.mark.parametrize("text", ["a: &x 1\n", "b: &x 1\na: *x\n", "a: !t 1\n", "b: 2\n", "[a]\n"])
def test_what_cannot_be_changed_safely_is_refused(text: str) -> None:
    with pytest.raises(Refused):
        removed(text, yaml.compose(text), ["a"])


def test_a_document_knows_its_values_and_their_lines() -> None:
    document = Document(TEXT, "x")
    assert document.data == {"a": {"b": 50, "c": [1, 2]}, "d": {"e": 1, "f": 2}}
    assert [document.line(keys) for keys in (["a"], ["a", "c", 1], ["d", "f"], ["a", "none"])] == [1, 3, 4, 1]
    assert Document("on: 2024-01-01\n12: x\n", "x").data == {"on": "2024-01-01", "12": "x"}
    assert (Document("", "x").data, Document("", "x").node) == ({}, None)


def test_a_changed_document_holds_exactly_what_was_wanted() -> None:
    document = Document(TEXT, "x")
    assert document.with_value(["a", "b"], 70).text == TEXT.replace("50", "70")
    assert document.with_value(["a", "b"], 50) is document
    assert document.with_value(["a", "b"], True).data["a"]["b"] is True
    assert document.without(["d", "e"]).without(["d", "f"]).data == {"a": {"b": 50, "c": [1, 2]}}
    assert document.without(["a", "none"]) is document.without(["a", "b", "deeper"]) is document
    with pytest.raises(Refused):
        Document("a: &x {n: 1}\nb: *x\n", "x").with_value(["b", "n"], 2)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"a: 1\na: 2\n", "x:2 a: is given twice, first in line 1"),
        (b"a: !t 1\n", "x:1: the tag !t has no meaning here"),
        (b"- a\n", "x:1: must hold settings as `name: value`, one a line"),
        (b"a: &x [*x]\n", "x:1:4: contains itself"),
        (b"\ta: 1\n", "x:1:1: a tab is used for indentation; YAML wants spaces"),
        (b"a: " + b"[" * 60 + b"]" * 60, "x:1: cannot be read: it is too deeply nested"),
        (b"a: 1\nb: \xff\n", "x:2: is not UTF-8 text (byte 0xff)"),
        ("a: 1\n".encode("utf-16"), "x:1: is UTF-16; save it as UTF-8"),
    ],
)
def test_what_would_be_guessed_lost_or_endless_is_refused(data: bytes, problem: str) -> None:
    with pytest.raises(Unreadable) as caught:
        Document.read(data, "x")
    assert [one.strip() for one in caught.value.problems] == [problem]
