"""Whatever a service sends and however it is cut, every step gets on: the work grows with the bytes, no faster."""

import json
from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from hermes_core.errors import ProviderError
from hermes_core.testing import Steps
from hermes_openai_wire.arguments import Arguments
from hermes_openai_wire.calls import CallCollector
from hermes_openai_wire.decode import ChatDecoder
from hermes_provider_kit.failures import Service
from hermes_provider_kit.sse import BrokenEvent, EventReader

HERE = Service(title="Test", url="http://127.0.0.1")

lines = st.sampled_from(
    [
        b"\xef\xbb\xbf",
        b"data: [DONE]",
        b'data: {"choices":[{"delta":{"content":"a"},"finish_reason":null}]}',
        b'data: {"choices":[{"delta":{"tool_calls":[{"function":{"name":"f","arguments":"{"}}]}}]}',
        b'data: {"choices":[{"delta":{"tool_calls":[{"id":"1","function":{"name":"f","arguments":"}"}}]}}]}',
        b'data: {"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.text","text":"t"}]}}]}',
        b'data: {"choices":[],"usage":{"prompt_tokens":1}}',
        b'{"choices":[]}',
        b'data: {"cut',
        b"data:",
        b"data: " + b"9" * 90,
        b"data: " + b"[" * 90,
        b": ping",
        b"event: x",
        b"data: \xff\xfe",
    ]
)
ends = st.sampled_from([b"\n\n", b"\n", b"\r\n\r\n", b"\r", b"", b"\r\n"])
streams = st.lists(st.one_of(st.tuples(lines, ends).map(b"".join), st.binary(max_size=30)), max_size=12).map(b"".join)
cuts = st.lists(st.integers(1, 200), max_size=20)


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
            found += reader.feed(part)
        return found + reader.end(), False
    except BrokenEvent:
        return found, True


@given(stream=streams, sizes=cuts)
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
        decoder = ChatDecoder(HERE, "test")
        decoder.feed(events([stream])[0])
        with suppress(ProviderError):
            decoder.end()


signs = st.sampled_from([*'{}[]"\\ 1:,a\n\u00a0', "null", '\\"', '"a":1', '{"a":"b"}'])


@given(parts=st.lists(st.tuples(st.lists(signs, max_size=3).map("".join), st.booleans()), max_size=12))
def test_arguments_are_whole_when_json_can_read_them(parts):
    arguments, text = Arguments(), ""
    for part, asked in parts:
        arguments.add(part)
        text += part
        if asked:
            try:
                json.loads(text)
            except ValueError:
                assert not arguments.complete(), text
            else:
                assert arguments.complete(), text


def test_a_call_in_very_many_fragments_is_not_read_anew_with_each(monkeypatch):
    read, loads = [0], json.loads

    def counting(text: str) -> object:
        read[0] += len(text)
        return loads(text)

    monkeypatch.setattr(json, "loads", counting)
    for dialect in (
        lambda at: {"function": {"name": "f", "arguments": " } ]" if at else '{"text": "'}},  # a name with each
        lambda at: {"index": 0, "function": {"arguments": " word" if at else '{"text": "'}},  # the same, time and again
        lambda at: {"id": f"{at}", "function": {"name": "f", "arguments": "{}"}},  # very many calls
        lambda at: {"index": 0, "id": f"{at}", "function": {"name": "f", "arguments": "{"}},  # an id with each
    ):
        read[0], fragments = 0, [dialect(at) for at in range(2_000)]
        size = sum(len(fragment["function"]["arguments"]) for fragment in fragments)
        with Steps(len(json.dumps(fragments)), each=3):
            calls = CallCollector("test")
            for fragment in fragments:
                calls.add([fragment])
            made = calls.deltas()
        assert sum(len(call.arguments) for call in made) == size
        assert read[0] <= 5 * size
