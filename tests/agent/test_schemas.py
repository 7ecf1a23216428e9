"""A tool may bring its JSON Schema: models are sent it as it is, and calls are held to the shape it says."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_core.agent.arguments import parse_arguments, tool_spec
from hermes_core.errors import ToolError
from hermes_core.kinds import Tool
from hermes_core.testing import Call
from hermes_core.testing.contract_provider import ODD_SCHEMA
from hermes_core.types import Returned, Text


def made(schema, name="odd"):
    async def run(_context, given):
        return repr(sorted(given.items()))

    return Tool(name=name, description="Do odd things.", schema=schema, run=run)


def complaints(schema, value):
    try:
        parse_arguments(made(schema), value)
    except ToolError as error:
        return [line[2:] for line in error.text.splitlines() if line.startswith("- ")]
    return []


def of(**properties):
    return {"type": "object", "properties": properties}


def test_a_model_is_told_it_as_it_is() -> None:
    assert tool_spec(made(ODD_SCHEMA)).schema is ODD_SCHEMA


def test_what_fits_reaches_the_tool_as_it_was_given() -> None:
    value = {"from": "2026", "x-y": 3.0}
    assert parse_arguments(made(ODD_SCHEMA), value) is value


def test_every_misfit_is_told_at_once() -> None:
    assert complaints(ODD_SCHEMA, {"x-y": "3", "form": 1}) == [
        "x-y: expected a whole number, got '3' (text)",
        "form: no such argument; did you mean from?",
        "from: required, and missing",
    ]


@pytest.mark.parametrize(
    ("schema", "value", "said"),
    [
        ({"type": ["string", "null"]}, 3, "a: expected text or nothing, got 3 (a whole number)"),
        ({"type": "integer"}, True, "a: expected a whole number, got True (true or false)"),
        ({"enum": [1, "b"]}, True, "a: expected one of 1, b, got True (true or false)"),
        ({"const": {"k": 1}}, {"k": 2}, "a: expected one of {'k': 1}, got {'k': 2} (an object)"),
        ({"type": "array", "items": {"type": "string"}}, ["x", 1], "a[1]: expected text, got 1 (a whole number)"),
        ({"type": "array", "prefixItems": [{}], "items": False}, [1, 2], "a[1]: nothing may stand here"),
        ({"additionalProperties": {"type": "string"}}, {"k": 1}, "a.k: expected text, got 1 (a whole number)"),
        ({"allOf": [{"required": ["k"]}]}, {}, "a.k: required, and missing"),
        ({"oneOf": [{"type": "string"}, {"type": "null"}]}, 7, "a: expected text, got 7 (a whole number)"),
    ],
)  # fmt: skip
def test_what_is_held(schema, value, said) -> None:
    assert complaints(of(a=schema), {"a": value}) == [said]


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": ["string", "null"]}, None),
        ({"type": "number"}, 3),
        ({"type": "integer"}, 10**400),
        ({"type": "integer"}, 3.0),
        ({"type": "string", "format": "email", "pattern": "^x", "maxLength": 1}, "no mail"),
        ({"patternProperties": {"^x": {}}, "additionalProperties": False}, {"xy": 1}),
        (True, "anything"),
    ],
)
def test_what_passes(schema, value) -> None:
    assert complaints(of(a=schema), {"a": value}) == []


def test_a_reference_may_lead_back_to_its_own_schema() -> None:
    itself = {"$ref": "#/$defs/n~0~1o"}
    tree = {"$defs": {"n~/o": of(below={"type": "array", "items": itself})}, **itself}
    assert complaints(tree, {"below": [{"below": []}]}) == []
    assert complaints(tree, {"below": [{"below": [7]}]}) == [
        "below[0].below[0]: expected an object, got 7 (a whole number)"
    ]


def test_alternatives_that_double_with_each_level_come_to_an_end() -> None:
    levels = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(40)}
    schema = {"properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": {**levels, "d40": {"type": "integer"}}}
    with pytest.raises(ToolError, match="too much to check"):
        parse_arguments(made(schema), {"x": "a"})


def test_a_value_that_is_nested_too_deeply_is_refused() -> None:
    tree = {"properties": {"k": {"$ref": "#"}}}
    value: dict = {}
    for _ in range(3000):
        value = {"k": value}
    assert complaints(tree, value) == ["arguments: nested too deeply"]


@pytest.mark.parametrize(
    "odd",
    [
        {"$ref": "https://example.org/schema.json"},
        {"$ref": "#/nowhere"},
        {"$ref": "#anchor"},
        {"properties": {"a": {"$ref": "#/properties/a"}}},
        {"type": "quantity"},
        {"required": 3},
        {"properties": ["a"]},
        {"items": 1, "properties": {"a": "text"}},
    ],
)
def test_what_cannot_be_checked_passes_and_its_author_is_told(odd) -> None:
    told = []
    value = {"a": 1}
    assert parse_arguments(made(odd), value, lambda tool, error: told.append(f"{tool.name}: {error}")) is value
    assert "its schema cannot be checked" in told[0]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
words = ["type", "enum", "const", "required", "properties", "additionalProperties", "items", "anyOf", "allOf", "$ref"]


@given(st.dictionaries(st.sampled_from(words), json_values), st.dictionaries(st.text(max_size=3), json_values))
def test_whatever_the_schema_a_call_passes_or_is_refused_in_words(schema, value) -> None:
    with contextlib.suppress(ToolError):
        assert parse_arguments(made(schema), value) is value


async def test_a_turn_sends_it_checks_it_and_says_once_what_cannot_be_checked(hermes, scripted) -> None:
    wrong, right = Call("odd", {"from": 1}), Call("odd", {"from": "now", "x-y": None})
    unchecked = Call("loose", {"b": 1})
    provider = scripted(wrong, right, unchecked, unchecked, "done")
    hermes.tmp_plugin(provider)
    hermes.tmp_plugin(made(ODD_SCHEMA), made({"type": "object", "required": 3}, "loose"), name="things")
    events = [event async for event in hermes.turn("go")]
    results = [e.result for e in events if isinstance(e, Returned)]
    said = ["".join(p.text for p in r.parts if isinstance(p, Text)) for r in results]
    assert said[0].splitlines()[1] == "- from: expected text, got 1 (a whole number)"
    assert said[1:] == ["[('from', 'now'), ('x-y', None)]", "[('b', 1)]", "[('b', 1)]"]
    sent = {spec.name: spec.schema for spec in provider.requests[0].tools}
    assert sent["odd"] == ODD_SCHEMA
    faults = [f for f in hermes.runtime.dispatch.faults if f.where == "loose"]
    assert [f.error.partition(":")[0] for f in faults] == ["its schema cannot be checked, so any arguments pass"]
