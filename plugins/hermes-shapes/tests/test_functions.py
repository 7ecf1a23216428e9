"""A plain function becomes a schema and values; what it gives back becomes text."""

import enum
import json
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict
from uuid import UUID

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_shapes.functions import function_of, schema_of, value_of
from hermes_shapes.results import shows, text_of
from hermes_shapes.schema import misfits


class Size(enum.Enum):
    SMALL = "s"
    LARGE = "l"


@dataclass
class Point:
    x: int
    y: float = 0.0


@attrs.frozen
class Box:
    corner: Point
    sizes: list[Size] = attrs.Factory(list)


class Options(TypedDict, total=False):
    deep: bool
    names: list[str]


@dataclass
class Tree:
    children: "list[Tree]" = field(default_factory=list)


class Given:
    """What a caller gives."""


def book(
    context: Given,
    day: date,
    box: Box,
    where: Path = Path(),
    size: Size = Size.SMALL,
    how: Literal["fast", "slow"] = "fast",
    options: Options | None = None,
    tags: frozenset[str] = frozenset(),
    note: Annotated[str, "What to write on it."] = "",
) -> str:
    """Book a box.

    It is kept for a week.

    Args:
        day: The day, as it
            is written.
        box (Box): What is booked.

    Returns:
        What was booked.
    """
    return f"{context} {day} {box} {where} {size} {how} {options} {tags} {note}"


def test_a_function_is_told_by_its_annotations_and_its_docstring():
    made = function_of(book, context=Given)
    assert (made.name, made.context) == ("book", ("context",))
    assert made.description == "Book a box.\n\nIt is kept for a week.\n\nReturns:\n    What was booked."
    told = made.schema["properties"]
    assert told["day"] == {"type": "string", "format": "date", "description": "The day, as it is written."}
    assert told["box"]["description"] == "What is booked."
    assert told["note"]["description"] == "What to write on it."
    assert told["size"] == {"type": "string", "enum": ["s", "l"]}
    assert told["box"]["properties"]["corner"]["required"] == ["x"]
    assert made.schema["required"] == ["day", "box"]


def test_what_is_given_becomes_values():
    made = function_of(book, context=Given)
    given = {
        "day": "2026-11-28",
        "box": {"corner": {"x": 1}, "sizes": ["l"]},
        "where": "a/b",
        "options": {"names": ["x"]},
        "tags": ["b", "a"],
    }
    assert not list(misfits(made.schema, given, made.schema))
    assert made.values(given) == {
        "day": date(2026, 11, 28),
        "box": Box(Point(1), [Size.LARGE]),
        "where": Path("a/b"),
        "options": {"names": ["x"]},
        "tags": frozenset("ab"),
    }


def test_pydantic_models_are_taken_by_their_own_schema():
    pydantic = pytest.importorskip("pydantic")
    city = pydantic.create_model("City", name=(str, ...), people=(int, pydantic.Field(ge=0)))
    assert schema_of(city)["required"] == ["name", "people"]
    assert value_of(city, {"name": "Oslo", "people": 7}).people == 7
    with pytest.raises(ValueError, match="people"):
        value_of(city, {"name": "Oslo", "people": -1})
    assert json.loads(text_of([city(name="Oslo", people=7)])) == [{"name": "Oslo", "people": 7}]


def test_all_problems_are_told_at_once_and_by_name():
    def bad(one, /, two: Tree, three: dict[int, str], *four: int, five):
        """Be bad.

        :param six: nobody
        """

    with pytest.raises(TypeError) as raised:
        function_of(bad)
    said = str(raised.value)
    for part in ("bad: ", "one cannot be given", "two: Tree holds itself", "three: dict[int, str]", "five has no ann"):
        assert part in said


def test_sphinx_fields_are_read_too():
    def find(name: str) -> str:
        """Find.

        :param name: whose
            name
        :returns: it
        """
        return name

    made = function_of(find)
    assert made.description == "Find."
    assert made.schema["properties"]["name"]["description"] == "whose name"


def test_a_union_takes_what_fits():
    kind = date | int | None
    assert value_of(kind, "2026-01-02") == date(2026, 1, 2)
    assert value_of(kind, 3) == 3
    assert value_of(kind, None) is None
    with pytest.raises(ValueError, match="month"):
        value_of(kind, "2026-13-02")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("as it is", "as it is"),
        (None, "done"),
        ({"a": [1, None, True]}, '{"a": [1, null, true]}'),
        (Box(Point(1), [Size.LARGE]), '{"corner": {"x": 1, "y": 0.0}, "sizes": ["l"]}'),
        ({date(2026, 1, 2): Decimal("1.50")}, '{"2026-01-02": "1.50"}'),
        ({"b", "a"}, '["a", "b"]'),
        (float("nan"), "null"),
        (timedelta(minutes=1), "60.0"),
        (UUID(int=1), '"00000000-0000-0000-0000-000000000001"'),
        (Size.SMALL, '"s"'),
        (datetime(2026, 1, 2, 3, 4), '"2026-01-02T03:04:00"'),  # noqa: DTZ001
    ],
)
def test_what_comes_back_is_text_or_json(value, expected):
    assert text_of(value) == expected


@pytest.mark.parametrize("value", [object(), [open], {"a": lambda: 1}, {(1, 2): 3}, b"bytes"])
def test_what_has_no_form_is_refused(value):
    with pytest.raises(TypeError):
        text_of(value)


def test_a_list_that_holds_itself_is_refused():
    held: list[Any] = []
    held.append(held)
    with pytest.raises(TypeError, match="itself"):
        text_of(held)


def test_a_type_says_beforehand_what_cannot_be_shown():
    assert all(map(shows, [str, dict[str, int], Box, Point, Size, Any, date | None, list[Point]]))
    assert not any(map(shows, [Given, Given | None]))


def frame(package, name, **methods):
    return type(name, (), {"__module__": f"{package}.core", **methods})()


def test_tables_are_shown_as_tables():
    rows = [(1, "a|b"), (2, None)]
    table = frame(
        "polars",
        "DataFrame",
        columns=["n", "text"],
        height=60,
        head=lambda self, _count: self,
        rows=lambda _self: rows,
    )
    assert text_of(table).splitlines() == [
        *("| n | text |", "| --- | --- |", "| 1 | a\\|b |", "| 2 |  |", "", "(60 rows; the first 50 are shown)")
    ]


JSONS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(JSONS.filter(lambda one: one is not None and not isinstance(one, str)))
def test_plain_values_come_back_as_they_were(value):
    assert json.loads(text_of(value)) == value
