"""What rows of the catalogue say of single services stands in what they are sent."""

import json

import pytest

from hermes_core.errors import ProviderError, Refused, Unavailable
from hermes_core.testing.protocol_replies import Said, events_of, stream_of
from hermes_core.types import Endpoint, Message, Request, Text, ToolCall, ToolResult
from hermes_openai_wire.body import chat_body, encode
from hermes_openai_wire.messages import Written
from hermes_provider_openai.entry import FOLDER, load_entry

MARK = {"type": "ephemeral"}


def talk(*, prompt="You are terse."):
    call, result = ToolCall(id="c1", name="look", arguments={}), ToolResult(call_id="c1", name="look", parts=())
    said = [("system", prompt), ("user", "one"), ("assistant", "two"), ("user", "three")]
    messages = [Message(role=role, parts=(Text(text=text),)) for role, text in said]
    messages += [Message(role="assistant", parts=(call,)), Message(role="tool", parts=(result,))]
    return Request(model="m", messages=tuple(messages))


def made(service, model, extra=None, **options):
    request = Request(model=model, messages=talk().messages, options=options)
    return json.loads(encode(chat_body(load_entry(service), service, request, model, extra or {}, written=Written())))


def marks(body):
    return [
        part.get("cache_control")
        for one in body["messages"]
        for part in (one["content"] if isinstance(one["content"], list) else [{}])
    ]


@pytest.mark.parametrize("service", ["openrouter", "nous", "kilocode"])
def test_claude_behind_a_router_is_told_what_to_keep(service):
    body = made(service, "anthropic/claude-sonnet-4.5")
    # The prompt, and the last three that say something: a call without words has no content to mark.
    assert marks(body) == [MARK, None, MARK, MARK, None, MARK]
    assert body["messages"][0]["content"] == [{"type": "text", "text": "You are terse.", "cache_control": MARK}]
    assert body["messages"][4]["content"] is None
    assert not any(marks(made(service, "openai/gpt-5")))
    assert not any(marks(made("openai", "claude-by-this-name")))
    longer = marks(made(service, "anthropic/claude-sonnet-4.5", {"cache_control": {"type": "ephemeral", "ttl": "1h"}}))
    assert [one["ttl"] for one in longer if one] == ["1h"] * 4
    never = made(service, "anthropic/claude-sonnet-4.5", {"cache_control": None})
    assert not any(marks(never))
    assert "cache_control" not in never


def test_vercel_marks_by_itself_when_it_is_asked_to():
    assert made("vercel", "anthropic/claude-sonnet-4.5")["providerOptions"] == {"gateway": {"caching": "auto"}}


def test_qwen_thinks_or_does_not_by_a_switch():
    for service in ("alibaba", "alibaba-coding-plan"):
        assert made(service, "qwen3-max", effort="high")["enable_thinking"] is True
        assert made(service, "qwen3-max", effort="none")["enable_thinking"] is False
        assert "enable_thinking" not in made(service, "qwen3-coder-plus", effort="high")
        assert "enable_thinking" not in made(service, "qwen3-max")
    assert "reasoning_effort" not in made("openai", "gpt-4.1", effort="high")
    assert made("openai", "gpt-5", effort="high")["reasoning_effort"] == "high"


def test_plans_for_coding_have_addresses_and_keys_of_their_own():
    plans = {
        "kimi-for-coding": "https://api.kimi.com/coding/v1",
        "zai-coding-plan": "https://api.z.ai/api/coding/paas/v4",
    }
    usual = {load_entry(name).base_url for name in ("kimi-coding", "zai")}
    keys = {key for name in ("kimi-coding", "zai") for key in load_entry(name).env}
    for name, address in plans.items():
        row = load_entry(name)
        assert row.base_url == address
        assert address not in usual
        assert not keys & {*row.env}  # a key of one is never sent to the other
    assert made("zai-coding-plan", "glm-4.6", effort="none")["thinking"] == {"type": "disabled"}
    body = made("kimi-for-coding", "kimi-for-coding", temperature=0.5)
    assert "temperature" not in body
    assert body["max_tokens"] == 32_000


@pytest.mark.parametrize(
    "said",
    [
        {"provider": {"order": ["anthropic", "google-vertex"], "allow_fallbacks": False}},
        {"provider": {"sort": "throughput", "data_collection": "deny", "zdr": True}},
        {"service_tier": "flex"},
    ],
)
def test_who_serves_a_model_and_how_fast_is_what_the_person_says(said):
    for service in ("openrouter", "openai"):
        body = made(service, "m", said)
        assert {name: body[name] for name in said} == said


async def test_each_model_of_opencode_is_asked_by_its_own_protocol(named, ask, hello):
    zen = named("opencode-zen", OPENCODE_ZEN_API_KEY="k")
    line = zen._line()
    found = {model: line.protocol_of(model) for model in ("gpt-5", "claude-sonnet-4-5", "gemini-3-pro", "glm-4.6")}
    assert found == {
        "gpt-5": "responses",
        "claude-sonnet-4-5": "opencode-claude",
        "gemini-3-pro": "gemini",
        "glm-4.6": "chat",
    }
    with pytest.raises(Refused) as told:
        await ask(zen, Request(model="claude-sonnet-4-5", messages=hello.messages))
    assert told.value.hint == "Use opencode-claude:claude-sonnet-4-5 instead."
    elsewhere = zen.at(Endpoint(name="lab", base_url="https://lab.example/v1", api_key="k"))._line()
    assert elsewhere.protocol_of("claude-sonnet-4-5") == "chat"  # another server has its own


WHOLE = json.dumps(
    {"choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}]}
)


async def test_a_server_without_streams_is_asked_for_a_whole_answer(service, at, ask, reply):
    async def answer(writer):
        if service.asked[-1].body["stream"]:
            writer.write(reply.http(400, '{"error": {"message": "Streaming is not supported by this deployment."}}'))
        else:
            writer.write(reply.http(200, WHOLE))
        await writer.drain()

    service.always = answer
    provider = at()
    assert (await ask(provider)).text == "Hi"
    assert (await ask(provider)).text == "Hi"
    assert [one.body["stream"] for one in service.asked] == [True, False, False]  # it is asked once
    assert "stream_options" not in service.asked[-1].body


async def test_what_is_refused_for_another_reason_leaves_the_streams(service, at, ask, reply):
    good = stream_of("chat", events_of("chat", Said(pieces=("Hello.",))))
    provider, streams = at(), []
    for words in ("Upstream error: tools are not supported.", "stop is not supported with stream here."):
        service.always = reply.http(400, json.dumps({"error": {"message": words}}))
        with pytest.raises(ProviderError):
            await ask(provider)
        streams.append([one.body["stream"] for one in service.asked])
        service.always = reply.sse(good)
        assert (await ask(provider)).text == "Hello."
        assert service.asked[-1].body["stream"]
        service.asked.clear()
    assert streams == [[True], [True, False]]  # an upstream is no stream, and the second was looked at


async def test_after_two_streams_that_broke_off_a_whole_answer_is_asked_for_once(service, at, ask, reply):
    good = stream_of("chat", events_of("chat", Said(pieces=("Hello ", "there."))))
    service.always = reply.sse(good[: len(good) // 2])
    provider = at()
    for _ in range(2):
        with pytest.raises(Unavailable):
            await ask(provider)
    service.always = reply.http(200, WHOLE)
    assert (await ask(provider)).text == "Hi"
    service.always = reply.sse(good)
    assert (await ask(provider)).text == "Hello there."
    assert [one.body["stream"] for one in service.asked] == [True, True, False, True]


def test_rows_name_themselves_in_public_lists_once():
    known = [name for path in FOLDER.glob("*.toml") if (name := load_entry(path.stem).public)]
    assert len(known) == len({*known}) > 20
