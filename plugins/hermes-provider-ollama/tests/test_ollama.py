"""What is sent is what Ollama takes, nothing is cut silently, and every reply comes out as it was meant."""

import base64
import json

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from hermes_core.errors import ContextTooLong, HermesError, Refused, Unavailable, UserError
from hermes_core.types import (
    Blob,
    CallDelta,
    Done,
    Endpoint,
    MediaRequest,
    Message,
    ReasoningDelta,
    Text,
    TextDelta,
    ToolCall,
    ToolResult,
    ToolSpec,
    UsageDelta,
)
from hermes_provider_kit.exchange import json_lines
from hermes_provider_kit.failures import Service
from hermes_provider_ollama.decode import LineDecoder
from hermes_provider_ollama.provider import Ollama

NUMBERS = {"type": "object", "properties": {"a": {"type": "integer"}}}
SPEC = ToolSpec(name="add", description="Add.", schema=NUMBERS)
HERE = Service(title="Test")


def user(*parts):
    return Message(role="user", parts=parts)


async def body(provider, request):
    return json.loads(await provider.body(request))


# --- room -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("window", "parameters", "wanted", "room"),
    [
        (131072, "", 0, 32768),
        (8192, "", 0, 8192),
        (131072, "stop            x\nnum_ctx         65536", 0, 65536),
        (131072, "num_ctx 4096", 100000, 100000),
        (8192, "", 100000, 8192),
        (0, "", 50000, 50000),
    ],
)
async def test_room_is_asked_for_with_each_request(service, at, hello, reply, window, parameters, wanted, room):
    service.by_path["/api/show"] = reply.shown(window, parameters)
    provider = at(context=wanted)
    assert (await body(provider, hello))["options"] == {"num_ctx": room}
    assert provider.window("tiny") == room
    [model] = await provider.models()
    assert model.context == room


async def test_what_would_be_cut_is_refused_before_anything_is_asked(service, at, ask, hello):
    long = evolve(hello, messages=(user(Text(text="word " * 9000)),))
    with pytest.raises(ContextTooLong) as raised:
        await ask(at(), long)
    assert raised.value.window == 8192
    assert "context" in raised.value.hint
    assert [one.path for one in service.asked] == ["/api/show"]


async def test_how_long_a_token_is_comes_from_what_was_counted(service, at, ask, hello, reply):
    provider = at()
    some = evolve(hello, messages=(user(Text(text="word " * 3000)),))
    service.always = reply.said({"content": "a"}, prompt_eval_count=3000)
    await ask(provider, some)
    more = evolve(hello, messages=(user(Text(text="word " * 7000)),))
    await ask(provider, more)  # by the first guess it would not fit
    assert len([one for one in service.asked if one.path == "/api/show"]) == 1


# --- what is sent -----------------------------------------------------------------------------------------------------


async def test_a_conversation_is_sent_as_it_was(at, hello):
    picture = Blob(media_type="image/png", data=b"png")
    called = Message(role="assistant", parts=(Text(text="I add."), ToolCall(id="1", name="add", arguments={"a": 1})))
    result = ToolResult(call_id="1", name="add", parts=(Text(text="1"), picture), failed=True)
    messages = (
        Message(role="system", parts=(Text(text="Be terse."),)),
        user(Text(text="go"), picture, Blob(media_type="application/zip", data=b"z", name="c.zip")),
        called,
        Message(role="tool", parts=(result,)),
    )
    sent = await body(
        at(), evolve(hello, messages=messages, tools=(SPEC,), options={"temperature": 0.5, "effort": "low"})
    )
    image = base64.b64encode(b"png").decode()
    assert sent["messages"] == [
        {"role": "system", "content": "Be terse."},
        {"role": "user", "content": "go\n[file c.zip, application/zip]", "images": [image]},
        {
            "role": "assistant",
            "content": "I add.",
            "tool_calls": [{"function": {"name": "add", "arguments": {"a": 1}}}],
        },
        {"role": "tool", "tool_name": "add", "content": "Error: 1", "images": [image]},
    ]
    assert sent["tools"][0]["function"]["parameters"] == NUMBERS
    assert sent["options"]["temperature"] == 0.5
    assert sent["think"] is True


@pytest.mark.parametrize(
    ("model", "effort", "think"),
    [("qwen3", "none", False), ("qwen3", "", None), ("gpt-oss:20b", "max", "high"), ("x/gpt-oss", "none", "low")],
)
async def test_thinking_is_asked_for_in_the_words_of_the_model(at, hello, model, effort, think):
    sent = await body(at(), evolve(hello, model=model, options={"effort": effort}))
    assert sent.get("think") == think


async def test_a_model_that_sees_nothing_is_told_of_a_picture(service, at, hello, reply):
    service.by_path["/api/show"] = reply.shown(8192, "", "tools")
    sent = await body(at(), evolve(hello, messages=(user(Blob(media_type="image/png", data=b"p", name="a.png")),)))
    assert sent["messages"] == [{"role": "user", "content": "[file a.png, image/png]"}]


async def test_extra_fields_are_laid_over(at, hello):
    extra = {"keep_alive": "1h", "options": {"num_gpu": 1}, "stream": None}
    sent = await body(at(extra_body=extra), hello)
    assert sent["keep_alive"] == "1h"
    assert sent["options"] == {"num_ctx": 8192, "num_gpu": 1}
    assert "stream" not in sent


# --- what comes -------------------------------------------------------------------------------------------------------


async def test_a_reply_is_understood(service, at, ask, hello, reply):
    calls = [{"function": {"name": "Add", "arguments": {"a": "3"}}}, {"function": {"name": "add", "arguments": {}}}]
    said = [{"thinking": "Hm.", "content": ""}, {"content": "Two "}, {"content": "\U0001f600"}, {"tool_calls": calls}]
    service.always = reply.said(*said)
    deltas = await ask(at(), evolve(hello, tools=(SPEC,)))
    assert "".join(d.text for d in deltas if isinstance(d, TextDelta)) == "Two \U0001f600"
    assert [d.text for d in deltas if isinstance(d, ReasoningDelta)] == ["Hm."]
    made = [d for d in deltas if isinstance(d, CallDelta)]
    assert [(d.index, d.name, json.loads(d.arguments)) for d in made] == [(0, "add", {"a": 3}), (1, "add", {})]
    assert len({d.id for d in made}) == 2
    [usage] = [d.usage for d in deltas if isinstance(d, UsageDelta)]
    assert (usage.input, usage.output) == (7, 3)
    assert deltas[-1] == Done(reason="tools")


@pytest.mark.long
async def test_a_reply_may_be_cut_at_every_byte(at, reply):
    stream = reply.lines(
        {"thinking": "Hm."}, {"content": "Two \U0001f600"}, {"tool_calls": [{"function": {"name": "a"}}]}
    )
    line = at()._line()

    async def decoded(*pieces):
        async def come():
            for piece in pieces:
                if piece:
                    yield piece

        decoder, deltas = LineDecoder(HERE), []
        async for event in json_lines(line, come()):
            deltas += decoder.feed(event)
        kinds = [evolve(d, id="") if isinstance(d, CallDelta) else d for d in deltas + decoder.end()]
        return [("".join(d.text for d in kinds if isinstance(d, TextDelta)))] + [
            d for d in kinds if not isinstance(d, TextDelta)
        ]

    expected = await decoded(stream)
    for cut in range(len(stream) + 1):
        assert await decoded(stream[:cut], stream[cut:]) == expected


@pytest.mark.parametrize(("why", "reason"), [("stop", "stop"), ("length", "length"), (None, "stop")])
async def test_why_it_ended_is_said(service, at, ask, reply, why, reason):
    service.always = reply.said({"content": "a"}, done_reason=why)
    assert (await ask(at()))[-1] == Done(reason=reason)


async def test_a_reply_without_an_end_is_an_error(service, at, ask, reply):
    service.always = reply.http(200, b'{"message": {"content": "Half"}, "done": false}\n', "application/x-ndjson")
    with pytest.raises(Unavailable, match="cut"):
        await ask(at())


async def test_an_error_inside_is_told(service, at, ask, reply):
    service.always = reply.http(200, b'{"error": "llama runner process has terminated"}\n', "application/x-ndjson")
    with pytest.raises(Unavailable, match="terminated"):
        await ask(at())


async def test_a_model_that_is_not_there_is_named(service, at, ask, reply):
    service.by_path["/api/show"] = reply.http(404, '{"error":"model \\"tiny\\" not found"}')
    with pytest.raises(Refused, match="not found"):
        await ask(at())


async def test_where_nobody_is_it_says_how_to_start_it(at, ask):
    with pytest.raises(Unavailable) as raised:
        await ask(at(base_url="http://127.0.0.1:9"))
    assert "Start it" in raised.value.hint


FIELDS = [
    *("message", "done", "error", "done_reason", "content", "thinking", "tool_calls", "function", "name"),
    *("arguments", "prompt_eval_count"),
]
JSONS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4),
    max_leaves=12,
)


@given(st.lists(JSONS, max_size=5))
def test_whatever_comes_is_a_reply_or_an_error(events):
    decoder = LineDecoder(HERE, [SPEC])
    try:
        for event in events:
            decoder.feed(event)
        assert decoder.end()
    except HermesError:
        pass


# --- where it is ------------------------------------------------------------------------------------------------------


async def test_it_is_found_on_its_port(service, keys):
    for ending in ("", "/v1", "/api"):
        assert Ollama(keys(), Endpoint(name="ollama", base_url=service.url + ending)).window("x") == 0
    assert await Ollama(keys(OLLAMA_BASE_URL=f"{service.url}/v1")).ready()
    assert not await Ollama(keys(OLLAMA_BASE_URL="http://127.0.0.1:9")).ready()
    with pytest.raises(UserError, match="no other"):
        Ollama(keys()).at(Endpoint(name="ollama", protocol="chat"))


async def test_models_that_only_embed_are_not_offered(service, at, reply):
    names = {"models": [{"name": "tiny"}, {"name": "vectors"}]}
    service.by_path["/api/tags"] = reply.http(200, json.dumps(names))

    async def told(writer):
        can = ["embedding"] if service.asked[-1].body["model"] == "vectors" else ["completion", "tools"]
        writer.write(reply.http(200, json.dumps({"model_info": {"x.context_length": 4096}, "capabilities": can})))
        await writer.drain()

    service.by_path["/api/show"] = told
    assert [model.name for model in await at().models()] == ["tiny"]


async def test_without_a_model_it_says_how_to_fetch_one(service, at, ask, hello, reply):
    service.by_path["/api/tags"] = reply.http(200, '{"models": []}')
    with pytest.raises(Refused) as raised:
        await ask(at(), evolve(hello, model=""))
    assert "hermes ollama pull" in raised.value.hint


async def test_vectors_are_those_that_were_asked_for(service, at, reply):
    service.always = reply.http(200, '{"embeddings": [[1.0]]}')
    with pytest.raises(Unavailable):
        await at().embed(MediaRequest(model="v", texts=("a", "b")))
    with pytest.raises(UserError):
        await at().embed(MediaRequest(texts=("a",)))
