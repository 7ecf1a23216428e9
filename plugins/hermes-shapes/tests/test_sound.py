"""What a value holds that was made by somebody else."""

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, Literal

import pytest
from attrs import field, frozen

from hermes_shapes.sound import unsound


class Colour(Enum):
    RED = "red"


@frozen(kw_only=True)
class Part:
    text: str = ""


@frozen(kw_only=True)
class Whole:
    name: str = "x"
    sure: bool = False
    share: float = 1
    way: Literal["in", "out"] = "in"
    colours: frozenset[Colour] | None = None
    parts: Sequence[Part] = ()
    first: tuple[Part, ...] = ()
    meta: Mapping[str, int] = field(factory=dict)
    any: Any = None


@pytest.mark.parametrize(
    "held",
    [
        {},
        {"colours": frozenset({Colour.RED}), "parts": (Part(),), "meta": {"a": 1}, "any": object()},
        {"parts": [Part()], "first": [Part(text="a list does for a tuple")], "share": 0.5},
    ],
)
def test_what_its_class_says_is_sound(held):
    assert unsound(Whole(**held)) == ""


@pytest.mark.parametrize(
    ("held", "said"),
    [
        ({"name": 7}, "Whole.name is 7"),
        ({"sure": "yes"}, "Whole.sure is 'yes'"),
        ({"share": "half"}, "Whole.share is 'half'"),
        ({"way": "up"}, "Whole.way is 'up'"),
        ({"colours": frozenset({"red"})}, "Whole.colours is frozenset({'red'})"),
        ({"colours": {Colour.RED}}, "Whole.colours is {<Colour.RED: 'red'>}"),
        ({"parts": "text is no sequence of parts"}, "Whole.parts is 'text is no sequence of parts'"),
        ({"parts": (Part(text=None),)}, "Whole.parts is (Part(text=None),)"),
        ({"first": None}, "Whole.first is None"),
        ({"meta": {"a": "b"}}, "Whole.meta is {'a': 'b'}"),
        ({"meta": []}, "Whole.meta is []"),
    ],
)
def test_what_is_something_else_is_named(held, said):
    for _ in range(2):  # types are taken apart once
        assert unsound(Whole(**held)) == said


def test_what_stood_there_before_was_looked_at_when_it_came():
    broken = Part(text=None)
    before = Whole(parts=(broken,))
    assert unsound(Whole(name="y", parts=(broken,)), before) == ""
    assert unsound(Whole(name="y", parts=(broken,))) != ""
