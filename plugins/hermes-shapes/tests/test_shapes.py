"""Classes of options without any Hermes: what is taken, what is refused in which words, what is described."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import attrs
import pytest

from hermes_shapes.build import Refused, build
from hermes_shapes.check import check
from hermes_shapes.describe import json_schema, settings_rows
from hermes_shapes.schema import misfits
from hermes_shapes.sound import unsound


class Key(str):
    """A text of its own kind."""

    __slots__ = ()


@attrs.frozen(kw_only=True)
class Poll:
    seconds: float = attrs.field(default=25.0, validator=attrs.validators.gt(0), metadata={"help": "How long."})
    mode: Literal["short", "long"] = "short"
    key: Key = attrs.field(factory=Key)


@attrs.frozen(kw_only=True)
class Whole:
    poll: Poll = attrs.field(factory=Poll)
    names: list[str] = attrs.field(factory=list)


@attrs.frozen(kw_only=True)
class Row:
    polls: tuple[Poll, ...] = ()
    heat: str | float = ""
    prices: Mapping[str, Mapping[str, float]] = attrs.field(factory=dict)


def problems(data: object, cls: type = Whole) -> list[str]:
    made, found = check(cls, data)
    assert (made is None) == bool(found)
    return [f"{one.path}: {one.text}" for one in found]


def test_the_quick_way_and_the_thorough_one_make_the_same() -> None:
    data = {"poll": {"seconds": 5, "key": "k"}, "names": ["a"]}
    made = build(Whole, data)
    assert made == check(Whole, data)[0] == Whole(poll=Poll(seconds=5.0, key=Key("k")), names=["a"])
    assert type(made.poll.key) is Key


def test_rows_of_data_files_are_made_both_ways() -> None:
    data = {"polls": [{"seconds": 5}, {}], "heat": 1, "prices": {"m": {"input": 1}}}
    made = Row(polls=(Poll(seconds=5.0), Poll()), heat=1.0, prices={"m": {"input": 1.0}})
    assert build(Row, data) == check(Row, data)[0] == made
    for wrong, told in (
        ({"polls": [{}, {"mode": "lon"}]}, "polls[1].mode: must be one of short, long; did you mean long?"),
        ({"polls": "abc"}, "polls: must be a list, not text"),
        ({"heat": [1]}, "heat: must be one of text or number"),
        ({"heat": True}, "heat: must be one of text or number"),
        ({"prices": {"m": {"input": "1"}}}, "prices.m.input: must be a number, not text (take the quotes away)"),
    ):
        with pytest.raises(Refused):
            build(Row, wrong)
        assert problems(wrong, Row) == [told]


@pytest.mark.parametrize(
    "data", [{"poll": {"seconds": 0}}, {"poll": {"mode": "lon"}}, {"nams": []}, {"names": "a"}, []]
)
def test_what_one_way_refuses_the_other_says(data: object) -> None:
    with pytest.raises((Refused, ValueError)):
        build(Whole, data)
    assert problems(data)


def test_every_problem_is_said_with_its_place() -> None:
    assert problems({"poll": {"seconds": 0, "mode": "lon"}, "names": [1], "nams": []}) == [
        "poll.seconds: must be more than 0, not 0.0",
        "poll.mode: must be one of short, long; did you mean long?",
        "names[0]: must be text, not 1 (put it in quotes)",
        "nams: no such setting; did you mean names?",
    ]


def test_what_stands_in_the_place_of_a_text_of_its_own_kind_is_not_repeated() -> None:
    assert problems({"key": 12345}, Poll) == ["key: must be text, not a whole number (put it in quotes)"]


def test_names_that_are_elsewhere_are_told_too() -> None:
    found = check(Poll, {"intervall": 1, "x": 1}, elsewhere=lambda _cls, _keys: (["interval"], ", and more"))[1]
    assert [one.text for one in found] == [
        "no such setting; did you mean interval?",
        "no such setting; there is seconds, mode, key, interval, and more",
    ]


def test_a_class_is_described_for_programs_and_for_people() -> None:
    poll = json_schema(Whole)["properties"]["poll"]
    assert poll["properties"]["seconds"] == {
        "type": "number", "exclusiveMinimum": 0, "description": "How long.", "default": 25.0
    }  # fmt: skip
    assert poll["properties"]["key"]["type"] == "string"
    assert [(row.key, row.type, row.default, row.help) for row in settings_rows(Whole)] == [
        ("poll.seconds", "number", 25.0, "How long."),
        ("poll.mode", "short, long", "short", ""),
        ("poll.key", "Key", "", ""),
        ("names", "list of text", [], ""),
    ]


def test_a_json_schema_is_held_and_references_are_followed() -> None:
    schema = {
        "$defs": {"n": {"type": "integer"}},
        "type": "object",
        "properties": {"n": {"$ref": "#/$defs/n"}, "to": {"anyOf": [{"type": "null"}, {"type": "string"}]}},
        "required": ["n"],
        "additionalProperties": False,
    }
    assert list(misfits(schema, {"n": 1, "to": None}, schema)) == []
    assert list(misfits(schema, {"n": "five", "too": 1}, schema)) == [
        "n: expected a whole number, got 'five' (text)",
        "too: no such argument; did you mean to?",
    ]
    assert list(misfits(schema, {}, schema)) == ["n: required, and missing"]


@attrs.frozen(kw_only=True)
class Answer:
    said: str
    mode: Literal["yes", "no"] = "yes"
    parts: Sequence[str] = ()
    by: Mapping[str, float] = attrs.Factory(dict)
    below: "Answer | None" = None


@pytest.mark.parametrize(
    ("held", "wrong"),
    [
        ({"said": "a", "parts": ["b"], "by": {"c": 1}, "below": Answer(said="d")}, ""),
        ({"said": 5}, "Answer.said is 5"),
        ({"said": "a", "mode": "maybe"}, "Answer.mode is 'maybe'"),
        ({"said": "a", "parts": "b"}, "Answer.parts is 'b'"),
        ({"said": "a", "parts": [b"b"]}, "Answer.parts is [b'b']"),
        ({"said": "a", "by": {"c": "1"}}, "Answer.by is {'c': '1'}"),
        ({"said": "a", "below": Answer(said=None)}, "Answer.below is Answer(said=None"),  # type: ignore[arg-type]
    ],
)
def test_what_an_object_holds_is_as_its_class_says(held: dict[str, Any], wrong: str) -> None:
    assert unsound(Answer(**held)).startswith(wrong)
    assert bool(unsound(Answer(**held))) == bool(wrong)


def test_what_was_looked_at_before_is_not_looked_at_again() -> None:
    old = Answer(said=None)  # type: ignore[arg-type]
    assert unsound(Answer(said="a", below=old), Answer(said="a", below=old)) == ""
