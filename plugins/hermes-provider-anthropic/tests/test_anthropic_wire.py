"""Every shape of a reply comes out the same, however its bytes arrive."""

import asyncio
import json
import random

import pytest

from hermes_core.errors import ProviderError
from hermes_core.types import CallDelta, Delta, Done, ReasoningDelta, TextDelta, UsageDelta
from hermes_provider_anthropic.decode import MessageDecoder
from hermes_provider_kit.failures import Service
from hermes_provider_kit.sse import EventReader, objects

HERE = Service(title="Test", url="http://127.0.0.1")
KNOWN = (TextDelta, ReasoningDelta, CallDelta, UsageDelta, Done)
ODD = [b"null", b"[]", b"{}", b'""', b"-1", b"1e999", b"\\ud800", b"\n\n", b"\r", b"[" * 3000, b"9" * 5000]


Events = list[list[object]]


def read(pieces: list[bytes]) -> Events:
    """The events that are whole with each of these pieces, and with the end."""
    reader = EventReader()
    return [*(objects(reader.feed(piece)) for piece in pieces), objects(reader.end())]


def decode(events: Events) -> list[Delta]:
    """What a stream comes to whose events come together like this."""
    decoder, deltas = MessageDecoder(HERE, "test"), []
    for some in events:
        deltas += decoder.feed(some)
    return deltas + decoder.end()


async def test_every_cassette_is_understood(cassettes, service, at, ask, reply):
    for name, (stream, expected) in cassettes.items():
        service.always = reply.http(200, stream, "text/event-stream")
        heard = await ask(at(called="test"))
        facts = heard.facts()
        if not expected["usage"][0]:  # what is not counted is guessed
            assert 10 < facts["usage"][0] < 100, name
            facts["usage"][0] = 0
        assert facts == expected, name
        assert heard.done == [heard.deltas[-1]], name
        assert all(heard.ids), name
        assert len(set(heard.ids)) == len(heard.ids), name


@pytest.mark.long
def test_a_stream_may_be_cut_at_every_byte(cassettes, heard):
    for name, (stream, expected) in cassettes.items():
        known: Events = []
        for cut in range(len(stream) + 1):
            events = read([stream[:cut], stream[cut:]])
            if events != known:  # those that come the same way are decoded once
                known, facts = events, heard(decode(events)).facts()
            assert facts == expected, (name, cut)


def test_a_stream_may_come_byte_by_byte(cassettes, heard):
    for name, (stream, expected) in cassettes.items():
        assert heard(decode(read([stream[i : i + 1] for i in range(len(stream))]))).facts() == expected, name


def test_neighboring_text_of_one_piece_is_one_delta(reply):
    pieces = reply.text(0, *["word "] * 500)
    deltas = MessageDecoder(HERE, "test").feed(EventReader().feed(reply.events(*pieces).encode()))
    assert deltas == [TextDelta(text="word " * 500)]


def test_text_and_thoughts_keep_their_order(reply):
    stream = reply.events(*reply.text(0, "a"), *reply.thought(1, "b", "s"), *reply.text(2, "c", "d"))
    deltas = MessageDecoder(HERE, "test").feed(EventReader().feed(stream.encode()))
    assert deltas == [TextDelta(text="a"), ReasoningDelta(text="b"), TextDelta(text="cd")]


async def test_a_reply_that_came_as_one_object_is_read(service, at, ask, reply):
    content = [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "text", "text": "Look."},
        {"type": "tool_use", "id": "t1", "name": "look", "input": {"at": "x"}},
    ]
    usage = {"input_tokens": 3, "output_tokens": 4}
    body = {"type": "message", "content": content, "stop_reason": "tool_use", "usage": usage}
    service.always = reply.http(200, json.dumps(body))
    heard = await ask(at())
    assert (heard.text, heard.reasoning, heard.calls) == ("Look.", "hm", [("look", {"at": "x"})])
    assert (heard.done[0].reason, heard.usages[-1].input, heard.usages[-1].output) == ("tools", 3, 4)
    assert heard.kept["anthropic"]["blocks"][0] == content[0]


async def test_arguments_that_were_cut_are_handed_on_as_they_are(service, at, hello, reply):
    begun = reply.call(0, "t1", "write", '{"text": "half')
    service.always = reply.sse(reply.begin(), *begun[:-1], *reply.finish("max_tokens"))
    deltas = [delta async for delta in at().stream(hello)]
    assert [d.arguments for d in deltas if isinstance(d, CallDelta)] == ['{"text": "half']
    assert deltas[-1] == Done(reason="length")


@pytest.mark.parametrize("seed", range(4))
async def test_broken_replies_give_deltas_or_a_provider_error(cassettes, service, at, reply, hello, seed, request):
    """Many replies with bytes flipped, lost, doubled and moved: never another exception, never a hang."""
    chance = random.Random(seed)
    provider = at(timeout=5.0)
    streams = [stream for stream, _ in cassettes.values()]
    good = bad = 0
    replies = request.config.getoption("cases") // 4
    for _ in range(replies):
        body = reply.http(200, mutated(chance, chance.choice(streams)), "text/event-stream")
        service.always = then_close(mutated(chance, body)) if chance.random() < 0.15 else body
        deltas = []
        try:
            async with asyncio.timeout(20):
                async for delta in provider.stream(hello):
                    assert isinstance(delta, KNOWN)
                    deltas.append(delta)
            assert isinstance(deltas[-1], Done)
            good += 1
        except ProviderError:
            bad += 1
        for delta in deltas:
            if isinstance(delta, TextDelta | ReasoningDelta):
                delta.text.encode()
                json.dumps(getattr(delta, "meta", {})).encode()
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
                changed[start:end] = chance.choice(ODD)
            case 5:
                other = chance.randrange(len(changed) + 1)
                changed[other:other] = piece
    return bytes(changed)
