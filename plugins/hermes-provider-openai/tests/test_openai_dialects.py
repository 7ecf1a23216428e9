"""Every dialect we have seen comes out the same, however its bytes arrive."""

import asyncio
import json
import random
from collections.abc import Iterator

import pytest

from hermes_core.errors import ProviderError
from hermes_core.types import CallDelta, Delta, Done, ReasoningDelta, TextDelta, ToolSpec, UsageDelta
from hermes_openai_wire.decode import ChatDecoder
from hermes_provider_kit.failures import Service
from hermes_provider_kit.sse import EventReader

HERE = Service(title="Test", url="http://127.0.0.1")


Events = list[list[object]]


def read(pieces: list[bytes]) -> Events:
    """The events that are whole with each of these pieces, and with the end."""
    reader = EventReader()
    return [*(reader.feed(piece) for piece in pieces), reader.end()]


def decode(events: Events) -> list[Delta]:
    """What a stream comes to whose events come together like this."""
    decoder, deltas = ChatDecoder(HERE, "test"), []
    for some in events:
        deltas += decoder.feed(some)
    return deltas + decoder.end()


def outcomes(stream: bytes, heard: type) -> Iterator[tuple[int, dict[str, object]]]:
    """What a stream comes to when it is cut at each of its bytes. Events that come the same way are decoded once."""
    known: list[tuple[Events, dict[str, object]]] = []
    for cut in range(len(stream) + 1):
        events = read([stream[:cut], stream[cut:]])
        if not known or known[-1][0] != events:
            known.append((events, heard(decode(events)).facts()))
        yield cut, known[-1][1]


async def test_every_cassette_is_understood(cassettes, service, at, ask, reply):
    for name, (stream, expected) in cassettes.items():
        service.always = reply.sse(stream)
        heard = await ask(at())
        assert heard.facts() == expected, name
        assert heard.done == [heard.deltas[-1]], name
        assert all(heard.ids), name
        assert len(set(heard.ids)) == len(heard.ids), name


@pytest.mark.long
def test_a_stream_may_be_cut_at_every_byte(cassettes, heard):
    for name, (stream, expected) in cassettes.items():
        for cut, facts in outcomes(stream, heard):
            assert facts == expected, (name, cut)
        assert heard(decode(read([stream[i : i + 1] for i in range(len(stream))]))).facts() == expected, name


@pytest.mark.long
@pytest.mark.parametrize("newline", [b"\r\n", b"\r"])
def test_other_line_ends_change_nothing(cassettes, heard, newline):
    for name, (stream, expected) in cassettes.items():
        for cut, facts in outcomes(stream.replace(b"\n", newline), heard):
            assert facts == expected, (name, cut)


def test_a_byte_order_mark_and_comments_change_nothing(cassettes, heard):
    for name, (stream, expected) in cassettes.items():
        if name == "no_blank_lines":
            continue
        changed = b"\xef\xbb\xbf: hello\n\n" + stream.replace(b"\n\n", b"\n\n: still here\n\n\n")
        for pieces in ([changed], [changed[i : i + 1] for i in range(len(changed))]):
            assert heard(decode(read(pieces))).facts() == expected, name


async def test_a_plain_json_answer_to_a_stream_request_is_taken(service, at, ask, reply):
    call = {"id": "c", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
    message = {"role": "assistant", "content": "Hi", "reasoning_content": "hm", "tool_calls": [call]}
    whole = {
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 1},
    }
    for body in (json.dumps(whole), "\n " + json.dumps(whole, indent=2), "\ufeff" + json.dumps(whole)):
        service.always = reply.http(200, body)
        heard = await ask(at())
        assert heard.facts() == {
            "text": "Hi",
            "reasoning": "hm",
            "calls": [["weather", {}]],
            "reason": "tools",
            "usage": [3, 1, 0, 0, 0],
        }


async def test_json_lines_are_taken(service, at, ask, reply):
    lines = [
        {"choices": [{"index": 0, "delta": {"content": "a"}, "finish_reason": None}]},
        {"choices": [{"index": 0, "delta": {"content": "b"}, "finish_reason": "stop"}]},
    ]
    service.always = reply.http(200, "\n".join(map(json.dumps, lines)), "application/x-ndjson")
    assert (await ask(at())).text == "ab"


def test_neighboring_text_of_one_chunk_is_one_delta():
    event = b'data: {"choices":[{"index":0,"delta":{"content":"word "},"finish_reason":null}]}\n\n'
    deltas = ChatDecoder(HERE, "test").feed(EventReader().feed(event * 500))
    assert deltas == [TextDelta(text="word " * 500)]


def test_text_and_thoughts_keep_their_order():
    def event(**delta: str) -> bytes:
        chunk = {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        return f"data: {json.dumps(chunk)}\n\n".encode()

    stream = event(content="a") + event(reasoning="b") + event(content="c") + event(content="d") + event(reasoning="e")
    deltas = ChatDecoder(HERE, "test").feed(EventReader().feed(stream))
    assert deltas == [
        TextDelta(text="a"),
        ReasoningDelta(text="b"),
        TextDelta(text="cd"),
        ReasoningDelta(text="e"),
    ]


async def test_broken_replies_give_deltas_or_a_provider_error(cassettes, service, at, reply, hello, request):
    """Many replies with bytes flipped, lost, doubled and moved: never another exception, never a hang."""
    chance = random.Random(20)
    provider = at(timeout=5.0)
    known = (TextDelta, ReasoningDelta, CallDelta, UsageDelta, Done)
    streams = [stream for stream, _ in cassettes.values()]
    good = bad = 0
    replies = request.config.getoption("cases")
    for _ in range(replies):
        body = mutated(chance, chance.choice(streams))
        service.always = then_close(mutated(chance, reply.sse(body))) if chance.random() < 0.15 else reply.sse(body)
        deltas = []
        try:
            async with asyncio.timeout(20):
                async for delta in provider.stream(hello):
                    assert isinstance(delta, known)
                    deltas.append(delta)
            assert isinstance(deltas[-1], Done)
            good += 1
        except ProviderError:
            bad += 1
        for delta in deltas:
            if isinstance(delta, TextDelta | ReasoningDelta):
                delta.text.encode()
    assert good > replies / 10
    assert bad > replies / 10


def then_close(answer: bytes):
    """An answer after which the server hangs up, as its announced length may be wrong."""

    async def write(writer: asyncio.StreamWriter) -> None:
        writer.write(answer)

    return write


def mutated(chance: random.Random, data: bytes) -> bytes:
    """The bytes with one to four accidents."""
    changed = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        start = chance.randrange(len(changed) + 1)
        end = min(len(changed), start + chance.choice((1, 1, 2, 5, 40)))
        piece = bytes(changed[start:end])
        match chance.randrange(6):
            case 0:
                changed[start:end] = bytes(chance.randrange(256) for _ in piece)
            case 1:
                del changed[start:end]
            case 2:
                changed[start:start] = piece
            case 3:
                del changed[start:]
            case 4:
                odd = (
                    b"null",
                    b"[]",
                    b"{}",
                    b'""',
                    b"-1",
                    b"1e999",
                    b"\\ud800",
                    b"\n\n",
                    b"\r",
                    b"[" * 3000,
                    b"9" * 5000,
                )
                changed[start:end] = chance.choice(odd)
            case 5:
                other = chance.randrange(len(changed) + 1)
                changed[other:other] = piece
    return bytes(changed)


ADD = ToolSpec(
    name="add_up", description="", schema={"type": "object", "properties": {"firstValue": {"type": "integer"}}}
)


@pytest.mark.parametrize(
    ("name", "arguments", "reason", "expected"),
    [
        ("functions.addUp", "{'first_value': '3',}", "tool_calls", ("add_up", '{"firstValue": 3}')),
        ("add_up", "<parameter=firstValue>3</parameter>", "tool_calls", ("add_up", '{"firstValue": 3}')),
        ("add_up", '{"firstValue": [1, 2]', "length", ("add_up", '{"firstValue": [1, 2]')),  # it may have gone on
        ("add_app", "{}", "tool_calls", ("add_app", "{}")),
    ],
)
def test_a_call_that_is_written_wrong_is_put_right_where_that_is_sure(name, arguments, reason, expected):
    call = {"index": 0, "id": "1", "function": {"name": name, "arguments": arguments}}
    decoder = ChatDecoder(HERE, "test", [ADD])
    decoder.feed([{"choices": [{"delta": {"tool_calls": [call]}, "finish_reason": reason}]}])
    [made] = [delta for delta in decoder.end() if isinstance(delta, CallDelta)]
    assert (made.name, made.arguments) == expected
