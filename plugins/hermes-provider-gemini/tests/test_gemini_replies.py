"""Every shape of a reply comes out the same, however its bytes arrive; and what is no reply becomes the right error."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_core.errors import AuthError, HermesError, RateLimited, Refused, Unavailable
from hermes_core.types import Request
from hermes_provider_gemini.decode import ContentDecoder
from hermes_provider_kit.failures import Service
from hermes_provider_kit.sse import BrokenEvent, EventReader, objects

HERE = Service(title="Test", url="http://127.0.0.1")
CALL = {"functionCall": {"name": "add", "args": {"a": 2, "ü": "é"}}, "thoughtSignature": "c2lnbmVk"}
MORE = {"functionCall": {"id": "x", "name": "add"}}
FIELDS = [
    *("candidates", "content", "parts", "text", "thought", "functionCall", "name", "args", "finishReason"),
    *("usageMetadata", "promptTokenCount", "promptFeedback", "blockReason", "error", "thoughtSignature"),
]
PARTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(FIELDS),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


def whole(reply):
    """A reply that thinks, speaks and calls twice."""
    usage = {"promptTokenCount": 20, "candidatesTokenCount": 7, "thoughtsTokenCount": 3, "cachedContentTokenCount": 8}
    return reply.events(
        reply.piece({"text": "I look.", "thought": True}),
        reply.piece({"text": "Two and"}),
        reply.piece({"text": " three \U0001f600", "thoughtSignature": "dGV4dA=="}),
        reply.piece(CALL, MORE),
        reply.piece({"text": ""}, reason="STOP", usageMetadata=usage),
    )


def decoded(pieces):
    reader, decoder, deltas = EventReader(), ContentDecoder(HERE, "gemini"), []
    for piece in pieces:
        deltas += decoder.feed(objects(reader.feed(piece)))
    return deltas + decoder.feed(objects(reader.end())) + decoder.end()


async def test_a_reply_is_understood(service, at, ask, reply):
    service.always = reply.http(200, whole(reply), "text/event-stream")
    found = await ask(at())
    assert found.text == "Two and three \U0001f600"
    assert found.reasoning == "I look."
    assert found.kept == [{"gemini": {"signature": "dGV4dA=="}}]
    assert found.calls == [
        ("add", {"a": 2, "ü": "é"}, {"gemini": {"signature": "c2lnbmVk"}}),
        ("add", {}, {}),
    ]
    assert len(set(found.ids)) == 2
    usage = found.usage
    assert (usage.input, usage.output, usage.cache_read, usage.reasoning) == (20, 10, 8, 3)
    assert found.done == ["tools"]


def test_a_stream_may_be_cut_at_every_byte(reply, heard):
    stream = whole(reply)
    expected = heard(decoded([stream])).facts()
    for cut in range(len(stream) + 1):
        assert heard(decoded([stream[:cut], stream[cut:]])).facts() == expected, cut


def test_a_reply_that_ends_before_it_is_finished_is_an_error_at_every_byte(reply):
    stream = whole(reply)
    for cut in range(stream.rindex(b"data: ")):
        with pytest.raises((Unavailable, BrokenEvent)):
            decoded([stream[:cut]])


@given(st.lists(PARTS, max_size=5))
def test_whatever_comes_is_a_reply_or_an_error(found):
    decoder = ContentDecoder(HERE, "gemini")
    try:
        deltas = decoder.feed(objects(found)) + decoder.end()
    except HermesError:
        return
    assert deltas


@pytest.mark.parametrize(
    ("reason", "done"), [("STOP", "stop"), ("MAX_TOKENS", "length"), ("SAFETY", "refused"), ("OTHER", "stop")]
)
async def test_why_it_ended_is_said(service, at, ask, reply, reason, done):
    service.always = reply.sse(reply.piece({"text": "a"}, reason=reason))
    assert (await ask(at())).done == [done]


async def test_a_request_that_is_not_answered_at_all_says_why(service, at, ask, reply):
    blocked = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT", "blockReasonMessage": "Not this."}}
    service.always = reply.sse(blocked)
    found = await ask(at())
    assert (found.text, found.done) == ("Not this.", ["refused"])
    assert found.usage.input > 0  # guessed, as nothing was counted


async def test_a_call_that_the_model_could_not_write_is_asked_for_again(service, at, ask, reply):
    service.always = reply.sse(reply.piece(reason="MALFORMED_FUNCTION_CALL"))
    with pytest.raises(Unavailable) as raised:
        await ask(at())
    assert raised.value.reason == "invalid_output"


@pytest.mark.parametrize(
    ("status", "word", "message", "error"),
    [
        (400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", AuthError),
        (403, "PERMISSION_DENIED", "Method doesn't allow unregistered callers.", AuthError),
        (404, "NOT_FOUND", "models/m is not found for API version v1beta", Refused),
        (429, "RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan.", RateLimited),
        (500, "INTERNAL", "An internal error has occurred.", Unavailable),
        (503, "UNAVAILABLE", "The model is overloaded. Please try again later.", Unavailable),
        (400, "FAILED_PRECONDITION", "User location is not supported for the API use.", Refused),
    ],
)
async def test_errors_of_the_service_are_told_apart(service, at, ask, reply, status, word, message, error):
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "17s"}]
    body = {"error": {"code": status, "message": message, "status": word, "details": details}}
    service.always = reply.http(status, json.dumps(body))
    with pytest.raises(error) as raised:
        await ask(at())
    if error is RateLimited:
        assert raised.value.retry_after == 17
    assert "AIza" not in str(raised.value)


async def test_an_error_inside_a_reply_comes_after_what_was_said(service, at, hello, reply):
    error = {"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}}
    service.always = reply.sse(reply.piece({"text": "Half"}), error)
    stream = at().stream(hello)
    assert (await anext(stream)).text == "Half"
    with pytest.raises(Unavailable):
        await anext(stream)


async def test_models_come_page_by_page_and_only_those_that_converse(service, at, reply):
    rows = [
        {"name": "models/gemini-3-pro", "inputTokenLimit": 1048576, "outputTokenLimit": 65536, "thinking": True},
        {"name": "models/embedding-1", "supportedGenerationMethods": ["embedContent"]},
    ]
    pages = [{"models": rows, "nextPageToken": "a b"}, {"models": [{"name": "models/gemini-flash-latest"}]}]
    service.script = [reply.http(200, json.dumps(page)) for page in pages]
    models = await at(base_url=service.url).models()
    assert [model.name for model in models] == ["gemini-flash-latest", "gemini-3-pro"]
    assert models[1].context == 1048576
    assert service.asked[1].path.endswith("pageToken=a%20b")


async def test_where_no_model_is_named_the_first_one_is_asked(service, at, ask, reply, hello):
    service.by_path["/models"] = reply.http(200, json.dumps({"models": [{"name": "models/own-1"}]}))
    service.always = reply.sse(reply.piece({"text": "a"}, reason="STOP"))
    await ask(at(), Request(model="", messages=hello.messages))
    assert service.asked[-1].path.startswith("/models/own-1:")
