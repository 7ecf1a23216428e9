"""Whatever a service sends and however it is cut, every step gets on: the work grows with the bytes, no faster."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_core.errors import ProviderError
from hermes_core.testing import Steps
from hermes_core.types import ReasoningDelta, TextDelta
from hermes_provider_anthropic.decode import MessageDecoder
from hermes_provider_kit import sse
from hermes_provider_kit.failures import Service
from hermes_provider_kit.sse import BrokenEvent, EventReader, objects

HERE = Service(title="Test", url="http://127.0.0.1")

lines = st.sampled_from(
    [
        b"\xef\xbb\xbf",
        b"event: ping",
        b"event: content_block_delta",
        b'data: {"type":"message_start","message":{"usage":{"input_tokens":1}}}',
        b'data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"f"}}',
        b'data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking"}}',
        b'data: {"index":0,"delta":{"type":"input_json_delta","partial_json":"{"}}',
        b'data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s"}}',
        b'data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"t"}}',
        b'data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}',
        b'data: {"cut',
        b"data:",
        b"data: " + b"9" * 90,
        b"data: " + b"[" * 90,
        b": comment",
        b"data: \xff\xfe",
    ]
)
ends = st.sampled_from([b"\n\n", b"\n", b"\r\n\r\n", b"\r", b"", b"\r\n"])
streams = st.lists(st.one_of(st.tuples(lines, ends).map(b"".join), st.binary(max_size=30)), max_size=12).map(b"".join)


def pieces(stream: bytes, sizes: list[int]) -> list[bytes]:
    """The stream cut into pieces of these sizes and a last one."""
    made, at = [], 0
    for size in sizes:
        made.append(stream[at : at + size])
        at += size
    return [*made, stream[at:]]


def events(parts: list[bytes]) -> tuple[list[object], bool]:
    """What is read of them, and whether it ended in an event that is broken."""
    reader, found = EventReader(), []
    try:
        for part in parts:
            found += objects(reader.feed(part))
        return found + objects(reader.end()), False
    except BrokenEvent:
        return found, True


@given(stream=streams, sizes=st.lists(st.integers(1, 200), max_size=20))
def test_any_bytes_are_read_in_few_steps_and_the_same_in_any_pieces(stream, sizes):
    with Steps(len(stream), each=30):
        whole, broken = events([stream])
        cut, broken_too = events(pieces(stream, sizes))
        single, broken_as_well = events([stream[at : at + 1] for at in range(len(stream))])
    assert broken == broken_too == broken_as_well
    if not broken:
        assert whole == cut == single
    assert single[: len(cut)] == cut


@given(stream=streams)
def test_what_was_read_becomes_a_reply_or_an_error_in_few_steps(stream):
    with Steps(len(stream), each=30, first=3_000):
        decoder = MessageDecoder(HERE, "test")
        decoder.feed(events([stream])[0])
        with suppress(ProviderError):
            decoder.end()


def test_an_event_without_an_end_is_not_collected_for_ever(monkeypatch):
    monkeypatch.setattr(sse, "LIMIT", 10_000)
    reader = EventReader()
    with Steps(12_000, each=5), pytest.raises(BrokenEvent, match="word"):
        list(map(reader.feed, [b"data: word\n"] * 1_500))


def test_thoughts_in_very_many_pieces_keep_their_signature():
    def delta(kind: str, field: str, text: str) -> dict:
        return {"type": "content_block_delta", "index": 0, "delta": {"type": kind, field: text}}

    decoder = MessageDecoder(HERE, "test")
    begin = {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking"}}
    words = [delta("thinking_delta", "thinking", "so ") for _ in range(1_000)]
    signs = [delta("signature_delta", "signature", "ab") for _ in range(1_000)]
    with Steps(4_000, each=50):
        deltas = decoder.feed([begin, *words, *signs, {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}])
        deltas += decoder.end()
    assert "".join(d.text for d in deltas if isinstance(d, ReasoningDelta | TextDelta)) == "so " * 1_000
    assert json.dumps("ab" * 1_000) in json.dumps([d.meta for d in deltas if isinstance(d, ReasoningDelta)])
