"""A reply is put together from any stream, or the turn says why not."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_core.agent.reply import Reply, read_arguments
from hermes_core.errors import Unavailable
from hermes_core.types import CallDelta, Done, Reasoning, ReasoningDelta, Text, TextDelta, ToolCall, Usage, UsageDelta


def assembled(*deltas):
    reply = Reply()
    for delta in deltas:
        reply.add(delta)
    return reply.finish()


def test_pieces_are_joined() -> None:
    response = assembled(
        ReasoningDelta(text="hm", meta={"p": {"sig": 1}}),
        TextDelta(text="Hel"),
        TextDelta(text="lo"),
        CallDelta(index=1, id="b", name="two", arguments="{}"),
        CallDelta(index=0, id="a", name="one", arguments='{"x":'),
        CallDelta(index=0, arguments=" 1}"),
        UsageDelta(usage=Usage(input=3, output=2)),
        Done(reason="tools", meta={"p": 1}),
    )
    assert response.message.parts == (
        Reasoning(text="hm", meta={"p": {"sig": 1}}),
        Text(text="Hello"),
        ToolCall(id="a", name="one", arguments={"x": 1}),
        ToolCall(id="b", name="two", arguments={}),
    )
    assert response.usage == Usage(input=3, output=2, calls=1)
    assert response.message.meta == {"p": 1}


def test_a_stream_without_an_end_is_not_a_reply() -> None:
    with pytest.raises(Unavailable, match="cut off"):
        assembled(TextDelta(text="Hel"))


def test_calls_without_or_with_the_same_id_get_their_own() -> None:
    calls = [
        CallDelta(index=0, id="x", name="a"),
        CallDelta(index=1, id="x", name="a"),
        CallDelta(index=2, name="a"),
    ]
    parts = assembled(*calls, Done(reason="tools")).message.parts
    assert len({p.id for p in parts}) == 3
    assert all(p.id for p in parts)


def test_a_delta_of_the_future_is_ignored() -> None:
    class Later:
        pass

    assert assembled(Later(), TextDelta(text="x"), Done(reason="stop")).message.parts == (Text(text="x"),)


@pytest.mark.parametrize("text", ['{"a": ', "[1]", "nope", '"text"', "3"])
def test_broken_arguments_are_marked_and_empty(text: str) -> None:
    arguments, why = read_arguments(text)
    assert arguments == {}
    assert why


@pytest.mark.parametrize("text", ["", "  ", "null", "{}"])
def test_no_arguments_are_none(text: str) -> None:
    assert read_arguments(text) == ({}, "")


def test_arguments_encoded_twice_are_read() -> None:
    assert read_arguments(json.dumps(json.dumps({"a": 1}))) == ({"a": 1}, "")


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"a":' * 50_000 + "1" + "}" * 50_000, '{"a":' * 300 + "1" + "}" * 300]
)
def test_hostile_nesting_is_refused(text: str) -> None:
    assert read_arguments(text)[1]


def test_a_call_cut_by_the_length_limit_says_so() -> None:
    call = assembled(CallDelta(index=0, id="a", name="f", arguments='{"x": "lo'), Done(reason="length")).message.parts[
        0
    ]
    assert "length limit" in call.invalid


@given(st.text())
@pytest.mark.long
def test_any_argument_text_gives_a_mapping_or_a_reason(text: str) -> None:
    arguments, why = read_arguments(text)
    assert isinstance(arguments, dict)
    assert isinstance(why, str)
