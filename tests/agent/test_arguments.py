"""A tool's arguments: a small schema for the model, and nothing wrong gets past it."""

import contextlib
from typing import Literal

import pytest
from attrs import field, fields, frozen
from hypothesis import given
from hypothesis import strategies as st

from hermes_core.agent.arguments import parse_arguments, tool_spec
from hermes_core.errors import ToolError
from hermes_core.kinds import Tool, tool
from hermes_core.options import ge, option, settings
from hermes_shapes.arguments import told


@frozen
class Inner:
    name: str


@settings
class Params:
    path: str = option("The file.")
    limit: int = option("How many.", default=5, validator=ge(1))
    ratio: float = option("A share.", default=0.5)
    loud: bool = option("Whether to shout.", default=False)
    mode: Literal["a", "b"] = option("Which.", default="a")
    words: list[str] = option("Some words.", factory=list)
    inner: Inner | None = option("One more.", default=None)


@tool
async def sample(params: Params) -> str:
    """Do a thing."""
    return params.path


def test_the_schema_says_what_is_required_and_no_more() -> None:
    schema = told(Params)
    assert schema["required"] == ["path"]
    assert schema["properties"]["mode"] == {"type": "string", "enum": ["a", "b"], "description": "Which."}
    assert schema["properties"]["limit"] == {"type": "integer", "description": "How many.", "default": 5}
    assert schema["properties"]["words"] == {"type": "array", "items": {"type": "string"}, "description": "Some words."}
    assert schema["properties"]["inner"]["properties"] == {"name": {"type": "string"}}


def test_a_default_that_nobody_would_guess_is_told() -> None:
    @settings
    class Guessed:
        wall: bool = option("", default=True)
        loud: bool = option("", default=False)
        mode: Literal["a", "b"] = option("", default="b")
        path: str = option("", default=".")
        page: int = option("", default=1)
        share: float = option("", default=1.5)

    told_of = {name: one.get("default") for name, one in told(Guessed)["properties"].items()}
    assert told_of == {"wall": True, "loud": None, "mode": "b", "path": None, "page": None, "share": 1.5}


def test_a_field_says_itself_what_is_told_of_it_and_is_held_to_its_type() -> None:
    @frozen
    class Brief:
        inner: Inner | None = field(default=None, metadata={"told": {"type": "object"}, "help": "with a name"})
        old: int = field(default=0, metadata={"told": None})

    @tool
    async def brief(params: Brief) -> str:
        """Do a thing."""
        return str(params.old)

    properties = {"inner": {"type": "object", "description": "with a name"}}
    assert tool_spec(brief).schema == {"type": "object", "properties": properties}
    assert parse_arguments(brief, {"inner": {"name": "n"}, "old": 3}) == Brief(inner=Inner("n"), old=3)
    with pytest.raises(ToolError, match=r"inner\.name: required, and missing"):
        parse_arguments(brief, {"inner": {}})


def test_a_tool_without_arguments_has_an_empty_schema() -> None:
    @tool
    async def nothing() -> str:
        """Do nothing."""
        return ""

    assert tool_spec(nothing).schema == {"type": "object", "properties": {}}


def test_good_arguments_become_the_class() -> None:
    found = parse_arguments(sample, {"path": "x", "limit": 3.0, "ratio": 1, "inner": {"name": "n"}})
    assert found == Params(path="x", limit=3, ratio=1.0, inner=Inner("n"))
    assert isinstance(found.limit, int)


@pytest.mark.parametrize(
    ("given_", "said"),
    [
        ({}, "path: required, and missing"),
        ({"path": 1}, "path: expected text, got 1 (a whole number)"),
        ({"path": "x", "limit": "3"}, "limit: expected a whole number, got '3' (text)"),
        ({"path": "x", "limit": True}, "limit: expected a whole number"),
        ({"path": "x", "limit": 0}, "'limit' must be >= 1"),
        ({"path": "x", "mode": "c"}, "mode: expected one of a, b"),
        ({"path": "x", "pth": "y"}, "pth: no such argument; did you mean path?"),
        ({"path": "x", "words": "a b"}, "words: expected a list"),
        ({"path": "x", "words": ["a", 2]}, "words[1]: expected text"),
        ({"path": "x", "inner": {"nme": "n"}}, "inner.nme: no such argument; did you mean name?"),
        ({"path": "x", "inner": 3}, "inner: expected an object"),
    ],
)
def test_wrong_arguments_are_named(given_: dict[str, object], said: str) -> None:
    with pytest.raises(ToolError) as caught:
        parse_arguments(sample, given_)
    assert said in caught.value.text


def test_every_problem_is_told_at_once() -> None:
    with pytest.raises(ToolError) as caught:
        parse_arguments(sample, {"limit": "x", "loud": 1, "zzz": 0})
    assert len(caught.value.text.splitlines()) == 5


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.long
@given(st.dictionaries(st.sampled_from([*(one.name for one in fields(Params)), "other"]), JSON))
def test_whatever_comes_is_the_class_or_a_tool_error(given_: dict[str, object]) -> None:
    with contextlib.suppress(ToolError):
        found = parse_arguments(sample, given_)
        assert isinstance(found.path, str)
        assert found.limit >= 1


def test_a_sync_function_is_no_tool() -> None:
    with pytest.raises(TypeError, match="async def"):

        @tool
        def wrong() -> str:  # type: ignore[arg-type]
            """Wrong."""
            return ""


def test_a_tool_needs_a_docstring() -> None:
    with pytest.raises(TypeError, match="docstring"):

        @tool
        async def silent() -> str:
            return ""


def test_options_of_a_tool_are_kept() -> None:
    @tool(name="other", toolset="own", after=["sample"], idempotent=True)
    async def named(params: Params) -> str:
        """Do."""
        return ""

    assert isinstance(named, Tool)
    assert (named.name, named.toolset, named.after, named.idempotent) == ("other", "own", ["sample"], True)


@settings
class Shape:
    side: Inner | list[int] | None = option("One of several.")


@tool
async def draws(params: Shape) -> str:
    """Draw."""
    return ""


@pytest.mark.parametrize(
    ("given_", "made"), [(None, None), ({"name": "n"}, Inner("n")), ([1, 2.0], [1, 2])], ids=["none", "class", "list"]
)
def test_what_may_be_several_things_becomes_the_one_that_it_is(given_: object, made: object) -> None:
    assert parse_arguments(draws, {"side": given_}).side == made


def test_what_is_none_of_several_things_is_told_as_the_one_that_it_is_most_like() -> None:
    with pytest.raises(ToolError) as caught:
        parse_arguments(draws, {"side": [1, "x"]})
    assert "- side[1]: expected a whole number, got 'x' (text)" in caught.value.text
