"""Messages survive being stored, whatever is in them."""

import json
from typing import Any, cast

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_core.codec import clean, dumps, message_from_json, message_to_json
from hermes_core.types import Blob, Location, Message, Part, Poll, Reasoning, Text, ToolCall, ToolResult

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=40)
any_text = st.text(max_size=40) | st.lists(st.sampled_from(["\ud83d", "\ude00", "\x00", "a", "한"])).map("".join)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
values = st.recursive(scalars, lambda v: st.lists(v, max_size=3) | st.dictionaries(texts, v, max_size=3), max_leaves=6)
meta = st.dictionaries(texts, values, max_size=3)
plain = st.builds(Text, text=texts)
blobs = st.builds(
    Blob, media_type=texts, data=st.none() | st.binary(max_size=40), path=st.none() | texts.filter(bool), name=texts
)
near = st.floats(-180, 180)
parts = (
    plain
    | st.builds(Poll, question=texts, choices=st.lists(texts, max_size=4), several=st.booleans())
    | st.builds(Location, latitude=near, longitude=near, title=texts)
    | blobs
    | st.builds(Reasoning, text=texts, meta=meta)
    | st.builds(ToolCall, id=texts, name=texts, arguments=meta, invalid=texts, meta=meta)
    | st.builds(
        ToolResult,
        call_id=texts,
        name=texts,
        parts=st.lists(plain | blobs, max_size=3).map(tuple),
        failed=st.booleans(),
    )
)
messages = st.builds(
    Message,
    role=st.sampled_from(["system", "user", "assistant", "tool"]),
    parts=st.lists(parts, max_size=4).map(tuple),
    meta=meta,
)


@given(messages)
def test_any_message_comes_back_as_it_was(message: Message) -> None:
    assert message_from_json(json.loads(dumps(message_to_json(message)))) == message


@given(any_text)
def test_clean_text_can_be_stored_and_is_left_alone(text: str) -> None:
    once = clean(text)
    assert once.encode().decode() == once == clean(once)
    assert "\x00" not in once


@given(any_text, any_text)
def test_unclean_text_never_stops_a_message(text: str, key: str) -> None:
    call = ToolCall(id=text, name=text, arguments={key: [text]})
    stored = dumps(message_to_json(Message(role="assistant", parts=(Text(text=text), call))))
    back = message_from_json(json.loads(stored))
    assert stored.encode()
    assert back.parts[0] == Text(text=clean(text))


def test_halves_that_belong_together_are_joined() -> None:
    assert clean("\ud83d\ude00 \ud83d") == "😀 \ufffd"


def test_text_that_only_looks_like_an_escape_is_kept() -> None:
    message = Message(role="user", parts=(Text(text="a \\u0000 b"),))
    assert message_from_json(json.loads(dumps(message_to_json(message)))) == message


@pytest.mark.parametrize(
    "data",
    [
        {"type": "hologram", "depth": 3, "inner": [{"type": "text"}]},
        {"type": "text", "words": ["a shape of the future"]},
        {"type": "blob", "media_type": "image/png", "data": "not base64!"},
    ],
)
def test_a_part_this_kernel_does_not_know_is_kept(data: dict[str, Any]) -> None:
    stored = {"role": "assistant", "parts": [{"type": "text", "text": "hi"}, data]}
    message = message_from_json(stored)
    assert message_to_json(message) == stored


def test_a_part_class_from_elsewhere_is_stored_by_its_fields() -> None:
    @attrs.frozen(kw_only=True)
    class Hologram:
        depth: int

    message = Message(role="user", parts=(cast("Part", Hologram(depth=3)),))
    assert message_to_json(message)["parts"] == [{"type": "hologram", "depth": 3}]


def test_who_knows_no_polls_and_places_reads_what_they_say_in_words() -> None:
    poll = Poll(question="When?", choices=["now", "then"], several=True)
    place = Location(latitude=59.9, longitude=10.75, title="Oslo")
    data = message_to_json(Message(role="assistant", parts=(poll, place)))
    assert [part["text"] for part in data["parts"]] == [poll.text, place.text]
    assert poll.text == "When?\n1. now\n2. then\n(as many as you like)"
    assert place.text.startswith("Oslo (59.900000, 10.750000)\nhttps://")
    assert isinstance(poll, Text)
