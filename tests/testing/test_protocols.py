"""The fakes speak as the services do: OpenAI's own models take every field, and what a vendor refuses is refused."""

import json
import urllib.error
import urllib.request
from asyncio import to_thread
from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter

from hermes_core.testing.model_service import http, model_service
from hermes_core.testing.protocol_replies import Said, SaidCall, error_of, events_of, reply_of, stream_of
from hermes_core.testing.protocol_rules import Refusal, refusal_of

CALLS = (SaidCall("look", '{"at": "x"}', "call_1"), SaidCall("look", "{}", "call_2"))
SAID = {
    "text": Said(pieces=("Hel", "lo.")),
    "calls": Said(calls=CALLS),
    "everything": Said(pieces=("I ", "look."), calls=CALLS, thinking="hm"),
}


@pytest.mark.parametrize("said", SAID.values(), ids=SAID)
def test_openai_s_own_models_take_what_is_sent(said: Said) -> None:
    """Strictly, which their client is not: it takes anything."""
    from openai.types.chat import ChatCompletion, ChatCompletionChunk  # a second, which is saved where it is not run
    from openai.types.responses import Response, ResponseStreamEvent

    ChatCompletion.model_validate(reply_of("chat", said), strict=True)
    for event in events_of("chat", said):
        ChatCompletionChunk.model_validate(event, strict=True)
    Response.model_validate(reply_of("responses", said))
    events: TypeAdapter[BaseModel] = TypeAdapter(ResponseStreamEvent)
    found = [events.validate_python(event) for event in events_of("responses", said)]
    assert [event.sequence_number for event in found] == list(range(len(found)))  # type: ignore[attr-defined]


def test_a_chat_tells_usage_only_when_it_is_asked() -> None:
    plain, told = (events_of("chat", SAID["text"], usage=usage) for usage in (False, True))
    assert not [event for event in plain if "usage" in event]
    assert [(event["choices"], event["usage"]["total_tokens"]) for event in told[-1:]] == [([], 12)]
    assert [event["usage"] for event in told[:-1]] == [None] * len(plain)


def test_arguments_come_in_pieces_that_begin_with_nothing() -> None:
    first, *pieces = [
        call["function"]["arguments"]
        for event in events_of("chat", SAID["calls"], usage=False)
        for call in event["choices"][0]["delta"].get("tool_calls", ())
        if call["index"] == 0
    ]
    assert (first, "".join(pieces), len(pieces)) == ("", '{"at": "x"}', 2)
    events = [event for event in events_of("messages", SAID["calls"]) if event.get("index") == 0]
    deltas = [event["delta"] for event in events if "delta" in event]
    assert [delta["type"] for delta in deltas] == ["input_json_delta"] * 3
    assert (deltas[0]["partial_json"], "".join(d["partial_json"] for d in deltas)) == ("", '{"at": "x"}')


def test_a_message_has_the_events_of_anthropic() -> None:
    kinds = [event["type"].removeprefix("content_block_") for event in events_of("messages", SAID["everything"])]
    call = ["start", "delta", "delta", "delta", "stop"]
    assert kinds == [
        *("message_start", "start", "ping", "delta", "delta", "stop"),
        *("start", "delta", "delta", "stop", *call, *call),
        *("message_delta", "message_stop"),
    ]  # fmt: skip
    thought = [e["delta"] for e in events_of("messages", SAID["everything"]) if "delta" in e][:2]
    assert [delta["type"] for delta in thought] == ["thinking_delta", "signature_delta"]
    begun, ended = (events_of("messages", SAID["text"])[at] for at in (0, -2))
    assert begun["message"]["usage"]["output_tokens"] == 1
    assert ended["usage"]["output_tokens"] == 3


WIRES = ("chat", "responses", "messages")
USER = {"role": "user", "content": "hello"}
TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
ASKED = {"role": "assistant", "content": None, "tool_calls": [
    {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{}"}}]}  # fmt: skip
TOLD = {"role": "tool", "tool_call_id": "call_1", "content": "seen"}
USE = {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}]}
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "seen"}]}
FUNCTION = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "look", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "call_1", "output": "seen"}


def asking(protocol: str, *turns: Any, **more: Any) -> dict[str, Any]:
    key, own = (
        ("input", {}) if protocol == "responses" else ("messages", {"max_tokens": 9} if protocol == "messages" else {})
    )
    return {"model": "m", **own, key: list(turns), **more}


chat, responses, messages = (
    lambda *turns, protocol=protocol, **more: (protocol, asking(protocol, *turns, **more)) for protocol in WIRES
)


def named(name: str) -> dict[str, Any]:
    return {**TOOL, "function": {"name": name}}


FINE = [
    chat(USER, ASKED, TOLD, USER, tools=[TOOL], tool_choice="auto", temperature=2, stream=True),
    chat({"role": "developer", "content": "Be kind."}, USER, stream=False, max_tokens=1),
    responses(USER, FUNCTION, OUTPUT, max_output_tokens=16),
    ("responses", {"model": "m", "input": "hello"}),
    responses(OUTPUT, previous_response_id="resp_1"),
    messages(USER, USE, RESULT, tools=[{"name": "look", "input_schema": {}}], temperature=1),
    messages(USER, {"role": "assistant", "content": ""}),
]
REFUSED = [
    ("chat", asking("chat", USER) | {"model": ""}, "you must provide a model parameter", None),
    ("chat", {"model": "m"}, "Missing required parameter: 'messages'.", "missing_required_parameter"),
    (*chat(), "Invalid 'messages': empty array.", "empty_array"),
    (*chat({"role": "robot", "content": "x"}), "Invalid value: 'robot'.", "invalid_value"),
    (*chat({"content": "x"}), "Missing required parameter: 'messages[0].role'.", "missing_required_parameter"),
    (*chat({"role": "user", "content": None}), "expected a string, got null", None),
    (*chat({"role": "user", "content": 7}), "Invalid type for 'messages[0].content'", "invalid_type"),
    (*chat(USER, TOLD), "must be a response to a preceeding message with 'tool_calls'", None),
    (*chat(USER, ASKED, TOLD, TOLD), "must be a response to a preceeding message", None),
    (*chat(USER, ASKED, {"role": "tool", "content": "x"}), "'messages[2].tool_call_id'", "missing_required_parameter"),
    (*chat(USER, ASKED, USER), "did not have response messages: call_1", None),
    (*chat(USER, ASKED), "did not have response messages: call_1", None),
    (*chat(USER, {**ASKED, "tool_calls": [], "content": "x"}), "'messages[1].tool_calls': empty", "empty_array"),
    (*chat(USER, tools=[]), "Invalid 'tools': empty array.", "empty_array"),
    (*chat(USER, tools=[named("two words")]), "string does not match pattern", "invalid_value"),
    (*chat(USER, tools=[named("x" * 65)]), "maximum length 64", "string_above_max_length"),
    (*chat(USER, tool_choice="auto"), "only allowed when 'tools' are specified", None),
    (*chat(USER, parallel_tool_calls=True), "only allowed when 'tools' are specified", None),
    (*chat(USER, stream_options={}), "only allowed when 'stream' is enabled", None),
    (*chat(USER, temperature=2.5), "a value <= 2, but got 2.5", "decimal_above_max_value"),
    (*chat(USER, stream="yes"), "Invalid type for 'stream': expected a boolean", "invalid_type"),
    (*responses(USER, OUTPUT), "No tool call found for function call output with call_id call_1.", None),
    (*responses(USER, FUNCTION), "No tool output found for function call call_1.", None),
    (*responses(USER, {**FUNCTION, "id": "call_1"}, OUTPUT), "begins with 'fc'", "invalid_value"),
    (*responses(USER, max_output_tokens=15), "a value >= 16, but got 15", "integer_below_min_value"),
    (*responses({"role": "assistant", "content": [{"type": "input_text", "text": "x"}]}),
     "Supported values are: 'output_text', 'refusal'", "invalid_value"),
    ("messages", {"model": "m", "messages": [USER]}, "max_tokens: Field required", None),
    (*messages(), "messages: at least one message is required", None),
    (*messages({"role": "system", "content": "x"}), 'Unexpected role "system"', "invalid_value"),
    (*messages(USE, RESULT), 'first message must use the "user" role', None),
    (*messages(USER, RESULT), "messages.1.content.0: unexpected `tool_use_id` found", None),
    (*messages(USER, USE, USER), "messages.1: `tool_use` ids were found without", None),
    (*messages(USER, USE), "messages.1: `tool_use` ids were found without", None),
    (*messages(USER, USE, RESULT, USE, RESULT), "`tool_use` ids must be unique", None),
    (*messages({"role": "user", "content": []}), "messages.0: all messages must have non-empty", None),
    (*messages({"role": "user", "content": ""}), "messages.0: all messages must have non-empty", None),
    (*messages({"role": "user", "content": [{"type": "text", "text": " "}]}), "non-whitespace text", None),
    (*messages(USER, temperature=1.5), "temperature: Input should be less than or equal to 1", None),
    (*messages(USER, tools=[{"name": "a b"}]), "tools.0.custom.name: String should match", None),
    (*messages(USER, tool_choice={"type": "auto"}), "tool_choice may only be specified", None),
    (*messages(USER, thinking={"type": "enabled", "budget_tokens": 9}), "greater than `thinking", None),
    (*messages({"role": "user", "content": [
        {"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}] * 5}), "A maximum of 4 blocks", None),
]  # fmt: skip


def test_what_services_take_is_taken() -> None:
    assert [(protocol, body, found) for protocol, body in FINE if (found := refusal_of(protocol, body))] == []


def test_what_services_refuse_is_refused_in_their_words() -> None:
    wrong = []
    for protocol, body, words, code in REFUSED:
        found = refusal_of(protocol, body)
        if found is None or words not in found.message or found.code != code:
            wrong.append(f"{protocol} {body}: {found}")
    assert wrong == []


def test_errors_have_the_shape_of_their_service() -> None:
    refusal = Refusal("Slow down.", status=429, code="rate_limit_exceeded")
    status, body, headers = error_of("chat", refusal, kind="requests")
    assert (status, body) == (429, {"error": {
        "message": "Slow down.", "type": "requests", "param": None, "code": "rate_limit_exceeded"}})  # fmt: skip
    assert list(headers) == ["x-request-id"]
    status, body, headers = error_of("messages", refusal)
    assert body.pop("request_id") == headers["request-id"]
    assert (status, body) == (429, {"type": "error", "error": {"type": "rate_limit_error", "message": "Slow down."}})


async def test_the_service_answers_what_is_right_and_refuses_the_rest() -> None:
    def post(url: str, body: dict[str, Any]) -> tuple[int, bytes]:
        asked = urllib.request.Request(url, json.dumps(body).encode())
        try:
            with urllib.request.urlopen(asked) as response:
                return response.status, response.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    async with model_service("/v1") as service:
        sent = stream_of("chat", events_of("chat", SAID["text"]))
        service.always = http(200, sent, "text/event-stream")
        address = f"{service.url}/chat/completions"
        assert await to_thread(post, address, asking("chat", USER)) == (200, sent)
        status, body = await to_thread(post, address, asking("chat", USER, TOLD))
        assert (status, json.loads(body)["error"]["param"]) == (400, "messages.[1].role")
        assert len(service.asked) == 2
        assert [words[:17] for words in service.refused] == ["Invalid parameter"]
        service.refused.clear()
    with pytest.raises(AssertionError, match="Missing required parameter: 'messages'"):
        async with model_service() as service:
            await to_thread(post, f"{service.url}/v1/chat/completions", {"model": "m"})
