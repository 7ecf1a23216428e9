"""The library answers in the protocol of each service, and what it raises becomes the right error."""

import json
import os
import subprocess
import sys

import pytest
from attrs import evolve

from hermes_core.errors import AuthError, Refused, Unavailable
from hermes_core.testing.model_service import http
from hermes_core.testing.protocol_replies import Said, SaidCall, events_of, stream_of
from hermes_core.types import CallDelta, Done, Message, ReasoningDelta, Text, TextDelta, ToolCall, ToolResult, ToolSpec
from hermes_provider_litellm.provider import LiteLLM

pytestmark = [pytest.mark.real, pytest.mark.filterwarnings("ignore"), pytest.mark.timeout(120)]
SPEC = ToolSpec(name="add", description="Add.", schema={"type": "object", "properties": {"a": {"type": "integer"}}})


async def read(provider, request):
    return [delta async for delta in provider.stream(request)]


async def test_claude_gets_its_thoughts_back_as_they_were(service, at, hello):
    said = Said(thinking="I look.", calls=(SaidCall(name="add", arguments='{"a": 1}', id="toolu_1"),))
    service.by_path["/v1/messages"] = http(200, stream_of("messages", events_of("messages", said)), "text/event-stream")
    request = evolve(hello, model="anthropic/claude-sonnet-4-5", tools=(SPEC,), options={"max_tokens": 9000})
    deltas = await read(at(), request)
    assert "".join(d.text for d in deltas if isinstance(d, ReasoningDelta)) == "I look."
    [kept] = [d.meta["litellm"]["thinking_blocks"] for d in deltas if isinstance(d, ReasoningDelta) and d.meta]
    assert [block["thinking"] for block in kept] == ["I look."]
    [first, *_] = [d for d in deltas if isinstance(d, CallDelta)]
    assert (first.name, deltas[-1]) == ("add", Done(reason="tools"))


async def test_gemini_is_asked_in_its_own_protocol(service, at, hello):
    part = {"functionCall": {"name": "add", "args": {"a": 1}}, "thoughtSignature": "c2ln"}
    usage = {"promptTokenCount": 9, "candidatesTokenCount": 3, "totalTokenCount": 12}
    candidate = {"content": {"parts": [part], "role": "model"}, "finishReason": "STOP", "index": 0}
    event = json.dumps({"candidates": [candidate], "usageMetadata": usage}).encode()
    service.always = http(200, b"data: " + event + b"\r\n\r\n", "text/event-stream")
    request = evolve(hello, model="gemini/gemini-3-pro-preview", tools=(SPEC,))
    provider = at()
    [call] = [d for d in await read(provider, request) if isinstance(d, CallDelta)]
    assert json.loads(call.arguments) == {"a": 1}
    reply = Message(role="assistant", parts=(ToolCall(id=call.id, name="add", arguments={"a": 1}, meta=call.meta),))
    result = Message(role="tool", parts=(ToolResult(call_id=call.id, name="add", parts=(Text(text="1"),)),))
    await read(provider, evolve(request, messages=(*hello.messages, reply, result)))
    sent = [part for turn in service.asked[-1].body["contents"] for part in turn["parts"]]
    [back] = [one for one in sent if "functionCall" in one or "function_call" in one]
    assert back.get("thoughtSignature") or back.get("thought_signature") == "c2ln"


async def test_a_name_without_a_service_is_asked_at_a_server_of_ones_own(service, at, hello):
    said = stream_of("chat", events_of("chat", Said(pieces=("Hi.",))))
    service.by_path["/v1/chat/completions"] = http(200, said, "text/event-stream")
    deltas = await read(at("/v1"), evolve(hello, model="my-model"))
    assert [d.text for d in deltas if isinstance(d, TextDelta)] == ["Hi."]
    assert service.asked[-1].body["model"] == "my-model"


async def test_where_nobody_is_it_says_so_and_not_the_key(at, hello):
    with pytest.raises(Unavailable) as raised:
        await read(at(base_url="http://127.0.0.1:9"), hello)
    assert "openai (LiteLLM)" in raised.value.text
    assert "sk-test" not in str(raised.value)


async def test_without_a_login_it_says_where_one_is_looked_for(hello, monkeypatch, tmp_path):
    for name in [one for one in os.environ if one.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with pytest.raises(AuthError) as raised:
        await read(LiteLLM(), evolve(hello, model="bedrock/anthropic.claude-v1:0"))
    assert "variables" in raised.value.hint


async def test_an_unknown_service_is_refused_in_words(hello):
    with pytest.raises(Refused, match="Provider NOT provided"):
        await read(LiteLLM(), evolve(hello, model="nonsense"))


async def test_without_any_key_it_says_what_to_do():
    with pytest.raises(Refused) as raised:
        await LiteLLM().models()
    assert "litellm:SERVICE/MODEL" in raised.value.hint


async def test_its_list_says_window_and_price_once_it_is_there(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-env")
    provider = LiteLLM()
    listed = {model.name: model for model in await provider.models()}
    assert listed["gpt-4o"].context == 128000
    price = provider.price("openai/gpt-4o")
    assert price is not None
    assert price.output > price.input > 0.1
    assert provider.price("openai/nobody-knows-it") is None


def test_the_plugin_is_there_without_the_library_being_imported():
    said = "import sys; from hermes_provider_litellm.provider import LiteLLM; p = LiteLLM()"
    argv = [sys.executable, "-c", f"{said}; p.window('a/b'); p.price('a'); assert 'litellm' not in sys.modules"]
    assert subprocess.run(argv, check=False, timeout=60).returncode == 0
