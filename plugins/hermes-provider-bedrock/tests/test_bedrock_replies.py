"""Every shape of a reply comes out the same, however its bytes arrive; and what is no reply becomes the right error."""

import asyncio
from copy import deepcopy
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_core.errors import AuthError, ContextTooLong, HermesError, RateLimited, Refused, Unavailable
from hermes_provider_bedrock.decode import ConverseDecoder
from hermes_provider_bedrock.frames import Event, FrameReader
from hermes_provider_kit.failures import Service
from hermes_provider_kit.sse import BrokenEvent

HERE = Service(title="Test", url="http://127.0.0.1")
RECORDED = Path(__file__).with_name("recorded")
FIELDS = [
    *("contentBlockIndex", "start", "delta", "text", "toolUse", "toolUseId", "name", "input", "reasoningContent"),
    *("signature", "redactedContent", "stopReason", "usage", "inputTokens", "message"),
]
NAMES = ["messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata", "?"]
WORDS = st.text("abc:-", max_size=9)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4),
    max_leaves=6,
)


def whole(wire):
    """A reply that thinks, speaks and calls twice, with a thought between."""
    thought = wire.block(0, {"reasoningContent": {"text": "I look."}}, {"reasoningContent": {"signature": "c2ln"}})
    sealed = wire.block(2, {"reasoningContent": {"redactedContent": "YWI="}})
    words = wire.block(1, {"text": "Two and"}, {"text": " three \U0001f600"})
    calls = wire.call(3, "tooluse_a", "add", '{"a": 2,', ' "ü": "é"}') + wire.call(4, "tooluse_b", "now")
    usage = {"inputTokens": 20, "outputTokens": 7, "cacheReadInputTokens": 8, "cacheWriteInputTokens": 4}
    return wire.reply(thought, words, sealed, calls, reason="tool_use", usage=usage)


def decoded(pieces):
    reader, decoder, deltas = FrameReader(), ConverseDecoder(HERE, "bedrock"), []
    for piece in pieces:
        deltas += decoder.feed(reader.feed(piece))
    return deltas + decoder.end()


async def test_a_reply_is_understood(service, at, ask, wire):
    service.always = wire.streamed(whole(wire))
    found = await ask(at())
    assert (found.text, found.reasoning) == ("Two and three \U0001f600", "I look.")
    blocks = [
        {"reasoningContent": {"reasoningText": {"text": "I look.", "signature": "c2ln"}}},
        {"text": len(found.text)},
        {"reasoningContent": {"redactedContent": "YWI="}},
        {"toolUse": "tooluse_a"},
        {"toolUse": "tooluse_b"},
    ]
    assert found.kept == [{"bedrock": {"blocks": blocks}}]
    assert found.calls == [(0, "tooluse_a", "add", {"a": 2, "ü": "é"}), (1, "tooluse_b", "now", {})]
    usage = found.usage
    assert (usage.input, usage.output, usage.cache_read, usage.cache_write) == (32, 7, 8, 4)
    assert (usage.priced, found.done) == ("", ["tools"])


@pytest.mark.parametrize(
    ("name", "begins", "thought", "calls", "kept", "used"),
    [
        ("text", "The capital of France is Paris.", "", [], 0, (13, 82)),
        ("call", "<thinking> To find", "", ["get_temperature"], 0, (471, 91)),
        ("thinking", "Hello!", "The user has greeted me with", [], 1, (36, 73)),
        ("sealed", "", "", [], 2, (92, 253)),
    ],
)
def test_what_bedrock_really_sent_is_understood(heard, name, begins, thought, calls, kept, used):
    stream = (RECORDED / f"{name}.bin").read_bytes()
    found = heard(decoded([stream]))
    assert found.text.startswith(begins)
    assert found.text
    assert found.reasoning.startswith(thought)
    assert [one[2] for one in found.calls] == calls
    blocks = [one for meta in found.kept for one in meta["bedrock"]["blocks"]]
    assert len([one for one in blocks if "reasoningContent" in one]) == kept
    assert (found.usage.input, found.usage.output) == used
    for size in (1, 7, 1000):
        cut = [stream[at : at + size] for at in range(0, len(stream), size)]
        assert heard(decoded(cut)).facts() == found.facts(), size


def test_a_stream_may_come_byte_by_byte_and_is_an_error_wherever_it_ends_too_early(wire, heard):
    stream = whole(wire)
    expected = heard(decoded([stream])).facts()
    reader, decoder, deltas, whole_at = FrameReader(), ConverseDecoder(HERE, "bedrock"), [], 0
    for at in range(len(stream)):
        events = reader.feed(stream[at : at + 1])
        deltas += decoder.feed(events)
        if at and not events:  # then it would end as it would have before
            continue
        try:
            deepcopy(decoder).end()
            whole_at = whole_at or at + 1
        except Unavailable:
            assert not whole_at, at
    assert heard(deltas + decoder.end()).facts() == expected
    assert whole_at < len(stream)
    assert stream[:whole_at].endswith(wire.frame("messageStop", {"stopReason": "tool_use"}))


@pytest.mark.long
def test_a_stream_may_be_cut_at_every_byte(wire, heard):
    stream = whole(wire)
    expected = heard(decoded([stream])).facts()
    for cut in range(len(stream) + 1):
        assert heard(decoded([stream[:cut], stream[cut:]])).facts() == expected, cut


def test_a_byte_that_is_damaged_is_an_error_or_says_the_same(wire, heard):
    stream = whole(wire)
    expected = heard(decoded([stream])).facts()
    for at in range(0, len(stream), 11):
        broken = stream[:at] + bytes([stream[at] ^ 0x41]) + stream[at + 1 :]
        with pytest.raises((BrokenEvent, Unavailable)):
            assert heard(decoded([broken])).facts() == expected, at


@settings(max_examples=40)
@given(st.lists(st.binary(max_size=80), max_size=4))
def test_bytes_of_anybody_are_events_or_an_error(pieces):
    reader = FrameReader()
    try:
        for piece in pieces:
            reader.feed(piece)
    except BrokenEvent:
        return


@settings(max_examples=40)
@given(st.dictionaries(WORDS, WORDS, max_size=3), st.binary(max_size=30))
def test_frames_of_anybody_are_events_or_an_error(heads, payload):
    from bedrock_service import raw_frame

    try:
        frame = raw_frame(heads, payload)
    except ValueError:
        return
    try:
        FrameReader().feed(frame)
    except BrokenEvent:
        return


@settings(max_examples=25)
@given(st.lists(st.tuples(st.sampled_from(NAMES), st.dictionaries(st.sampled_from(FIELDS), VALUES)), max_size=6))
def test_whatever_comes_is_a_reply_or_an_error(found):
    decoder = ConverseDecoder(HERE, "bedrock")
    try:
        deltas = decoder.feed([Event(name, body) for name, body in found]) + decoder.end()
    except HermesError:
        return
    assert deltas


@pytest.mark.parametrize(
    ("reason", "done"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("guardrail_intervened", "refused"),
        ("content_filtered", "refused"),
    ],
)
def test_why_it_ended_is_said(wire, heard, reason, done):
    assert heard(decoded([wire.reply(wire.block(0, {"text": "a"}), reason=reason)])).done == [done]


def test_a_call_that_the_model_could_not_write_is_asked_for_again(wire):
    with pytest.raises(Unavailable) as raised:
        decoded([wire.reply(reason="malformed_tool_use")])
    assert raised.value.reason == "invalid_output"


def test_usage_is_guessed_where_it_is_not_counted(wire, heard):
    stream = wire.frame("messageStart", {}) + wire.block(0, {"text": "abcdefgh"})
    stream += wire.frame("messageStop", {"stopReason": "end_turn"})
    reader, decoder = FrameReader(), ConverseDecoder(HERE, "bedrock", guess=9)
    found = heard(decoder.feed(reader.feed(stream)) + decoder.end())
    assert (found.usage.input, found.usage.output, found.text) == (9, 3, "abcdefgh")


ON_DEMAND = (
    "Invocation of model ID anthropic.claude-sonnet-4-6 with on-demand throughput isn\u2019t supported. Retry your "
    "request with the ID or ARN of an inference profile that contains this model."
)
NOT_MINE = (
    "User: arn:aws:iam::1:user/a is not authorized to perform: bedrock:InvokeModelWithResponseStream on resource: "
    "arn:aws:bedrock:eu-central-1::foundation-model/amazon.nova-pro-v1:0"
)
SIGNED = "The request signature we calculated does not match. The Canonical String should have been 'TOKEN-secret'"
FAILURES = [
    (400, "ValidationException", "Input is too long for requested model.", ContextTooLong, "context_overflow"),
    (400, "ValidationException", "The provided model identifier is invalid.", Refused, "model_not_found"),
    (400, "ValidationException", ON_DEMAND, Refused, "model_not_found"),
    (400, "ValidationException", "Malformed input request, please reformat.", Refused, "format_error"),
    (403, "AccessDeniedException", "You don't have access to the model with the specified model ID.", Refused, ""),
    (403, "AccessDeniedException", NOT_MINE, AuthError, "auth"),
    (403, "AccessDeniedException", "Authentication failed: Bearer Token has expired", AuthError, "auth"),
    (403, "UnrecognizedClientException", "The security token included in the request is invalid.", AuthError, ""),
    (403, "ExpiredTokenException", "The security token included in the request is expired", AuthError, "auth"),
    (403, "InvalidSignatureException", SIGNED, AuthError, "auth"),
    (404, "ResourceNotFoundException", "Could not resolve the foundation model.", Refused, "model_not_found"),
    (408, "ModelTimeoutException", "The model took too long.", Unavailable, "timeout"),
    (424, "ModelErrorException", "The model failed.", Unavailable, "server_error"),
    (424, "ModelErrorException", "Model produced invalid sequence as part of ToolUse.", Unavailable, "invalid_output"),
    (429, "ThrottlingException", "Too many tokens, please wait before trying again.", RateLimited, "rate_limit"),
    (429, "ModelNotReadyException", "The model specified is not ready to serve.", Unavailable, "overloaded"),
    (500, "InternalServerException", "The server had an error.", Unavailable, "server_error"),
    (503, "ServiceUnavailableException", "Bedrock is unable to process your request.", Unavailable, "overloaded"),
]


async def test_errors_of_the_service_are_told_apart(service, at, ask, wire):
    for status, kind, said, error, reason in FAILURES:
        service.always = wire.failed(status, kind, said)
        with pytest.raises(error) as raised:
            await ask(at())
        assert not reason or raised.value.reason == reason, said
        assert raised.value.hint or reason == "format_error", said
        assert "secret" not in str(raised.value)


async def test_an_error_inside_a_reply_comes_after_what_was_said(service, at, hello, wire):
    half = wire.frame("messageStart", {"role": "assistant"}) + wire.block(0, {"text": "Half"})
    for name, error in (
        ("throttlingException", RateLimited),
        ("serviceUnavailableException", Unavailable),
        ("modelStreamErrorException", Unavailable),
        ("validationException", Refused),
        ("internalServerException", Unavailable),
    ):
        service.always = wire.streamed(half + wire.frame(name, {"message": "Not now."}, kind="exception"))
        stream = at().stream(hello)
        assert (await anext(stream)).text == "Half"
        with pytest.raises(error, match=r"Not now\."):
            await anext(stream)


async def test_what_is_no_reply_is_said_to_be_none(service, at, ask, wire):
    for body in (b"", b'{"output": {}}', b"<html><title>Log in</title>", b"\x00" * 40):
        service.always = wire.streamed(body)
        with pytest.raises(Unavailable):
            await ask(at())


async def test_a_service_that_hangs_up_or_falls_silent_is_given_up(service, at, hello, wire):
    half = wire.frame("messageStart", {"role": "assistant"}) + wire.block(0, {"text": "Half"})
    head = b"HTTP/1.1 200 X\r\ncontent-type: application/vnd.amazon.eventstream\r\n\r\n"
    for silent in (False, True):

        async def answer(writer, silent=silent):
            writer.write(head + half + wire.frame("messageStop", {"stopReason": "end_turn"})[:30])
            await writer.drain()
            if silent:
                await asyncio.Event().wait()

        service.always = answer
        stream = at(timeout=0.05).stream(hello)
        assert (await anext(stream)).text == "Half"
        with pytest.raises(Unavailable, match="sent nothing" if silent else "cut the reply"):
            await anext(stream)
