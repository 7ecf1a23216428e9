"""Anthropic's protocol, event for event."""

import asyncio
import json
from typing import Any

import pytest

from hermes_core.errors import Refused
from hermes_core.testing import Call, Fail
from hermes_core.types import Blob, ToolResult

TOOL = {"name": "get_weather", "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}}}
CALL = Call("client_get_weather", {"city": "Ulm"})
EMPTY: dict[str, Any] = dict.fromkeys(("input_tokens", "output_tokens"), 0)
EMPTY |= dict.fromkeys(("cache_creation_input_tokens", "cache_read_input_tokens"), 0)
EMPTY |= dict.fromkeys(("cache_creation", "output_tokens_details", "server_tool_use", "inference_geo", "service_tier"))


def said(content: Any, *messages: Any, **more: Any) -> dict[str, Any]:
    return {
        "model": "hermes",
        "max_tokens": 100,
        "messages": [{"role": "user", "content": content}, *messages],
        **more,
    }


def events(text: str) -> list[tuple[str, Any]]:
    blocks = [block.split("\n") for block in text.strip().split("\n\n")]
    return [(lines[0].removeprefix("event: "), json.loads(lines[1].removeprefix("data: "))) for lines in blocks]


async def test_a_message_is_answered(serve: Any, scripted: Any) -> None:
    model = scripted("Hello there.")
    async with serve(model) as server, server.http("", **{"x-api-key": "owners-key-0123456789"}) as http:
        answer = await http.post("/v1/messages", json=said("Hi.", system=[{"type": "text", "text": "Be brief."}]))
    whole = answer.json()
    assert whole.pop("id").startswith("msg_")
    assert whole == {
        "type": "message",
        "role": "assistant",
        "model": "hermes",
        "content": [{"type": "text", "text": "Hello there.", "citations": None}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "stop_details": None,
        "container": None,
        "usage": {**EMPTY, "input_tokens": 10, "output_tokens": 2},
    }
    assert answer.headers["x-hermes-session-id"]
    assert answer.headers["request-id"]
    assert "Be brief." in model.requests[0].messages[0].parts[0].text


async def test_the_events_of_a_message_come_in_their_order(serve: Any, scripted: Any) -> None:
    async with serve(scripted("One two.")) as server, server.http() as http:
        answer = await http.post("/v1/messages", json=said("Count.", stream=True))
    told = events(answer.text)
    names = [name for name, _ in told]
    assert names[:3] == ["message_start", "ping", "content_block_start"]
    assert {*names[3:-3]} == {"content_block_delta"}
    assert names[-3:] == ["content_block_stop", "message_delta", "message_stop"]
    assert all(name == data["type"] for name, data in told)
    start = told[0][1]["message"]
    assert (start["content"], start["stop_reason"], start["usage"]) == ([], None, EMPTY)
    block = {"type": "text", "text": "", "citations": None}
    assert told[2][1] == {"type": "content_block_start", "index": 0, "content_block": block}
    assert {(d["index"], d["delta"]["type"]) for n, d in told if n == "content_block_delta"} == {(0, "text_delta")}
    assert "".join(d["delta"]["text"] for n, d in told if n == "content_block_delta") == "One two."
    assert told[-2][1]["delta"] == {"stop_reason": "end_turn", "stop_sequence": None}
    assert told[-2][1]["usage"]["output_tokens"] > 0


@pytest.mark.parametrize("stream", [False, True])
async def test_a_clients_tool_is_called_and_its_result_goes_on(serve: Any, scripted: Any, stream: bool) -> None:
    model = scripted(CALL, "Rain.")
    async with serve(model) as server, server.http() as http:
        first = await http.post("/v1/messages", json=said("Weather?", tools=[TOOL], stream=stream))
        if stream:
            told = events(first.text)
            names = ["message_start", "ping", "content_block_start", "content_block_delta", "content_block_stop"]
            assert [name for name, _ in told] == [*names, "message_delta", "message_stop"]
            block = {**told[2][1]["content_block"], "input": json.loads(told[3][1]["delta"]["partial_json"])}
            assert told[2][1]["content_block"]["input"] == {}
            assert told[3][1]["delta"]["type"] == "input_json_delta"
            reason = told[-2][1]["delta"]["stop_reason"]
        else:
            [block], reason = first.json()["content"], first.json()["stop_reason"]
        assert reason == "tool_use"
        assert (block["type"], block["name"], block["input"]) == ("tool_use", "get_weather", {"city": "Ulm"})
        assert block["id"].startswith("toolu_")
        result = {"type": "tool_result", "tool_use_id": block["id"], "content": "Wet.", "is_error": True}
        more = [{"role": "assistant", "content": [block]}, {"role": "user", "content": [result]}]
        last = await http.post("/v1/messages", json=said("Weather?", *more, tools=[TOOL]))
        assert [b["text"] for b in last.json()["content"]] == ["Rain."]
        assert first.headers["x-hermes-session-id"] == last.headers["x-hermes-session-id"]
    [given] = [p for p in model.requests[1].messages[-1].parts if isinstance(p, ToolResult)]
    assert given.untrusted
    assert [w in "".join(p.text for p in given.parts) for w in ("Wet.", "failed at the client")] == [True, True]


async def test_pictures_and_thoughts_of_earlier_are_understood(serve: Any, scripted: Any) -> None:
    model = scripted("A cat.")
    source = {"type": "base64", "media_type": "image/png", "data": "iVBORy4uLi4="}
    thought = [{"type": "thinking", "thinking": "Hm.", "signature": "s"}, {"type": "text", "text": "Yes?"}]
    ask = {"role": "user", "content": [{"type": "image", "source": source}]}
    async with serve(model) as server, server.http() as http:
        body = said("Hi.", {"role": "assistant", "content": thought}, ask)
        assert (await http.post("/v1/messages", json=body)).status_code == 200
    sent = model.requests[0].messages
    assert [m.role for m in sent] == ["system", "user", "assistant", "user"]
    assert [p.text for p in sent[2].parts] == ["Yes?"]
    assert isinstance(sent[3].parts[0], Blob)


async def test_errors_are_in_anthropics_words(serve: Any, scripted: Any) -> None:
    refused = Fail(Refused("The model is away."))
    async with serve(scripted(refused, Fail(Refused("No more."), said="Once"))) as server, server.http() as http:
        for body, status, kind in (
            ({**said("Hi."), "max_tokens": None}, 400, "invalid_request_error"),
            ({**said("Hi."), "model": "claude"}, 404, "not_found_error"),
            (said("Hi.", {"role": "assistant", "content": "And"}), 400, "invalid_request_error"),
            (said("Hi.", tools=[{"type": "web_search_20250305", "name": "web_search"}]), 400, "invalid_request_error"),
            (said("x" * 1_000_001), 400, "invalid_request_error"),
            (said("Hi."), 502, "api_error"),
        ):
            answer = await http.post("/v1/messages", json=body)
            assert (answer.status_code, answer.json()["type"], answer.json()["error"]["type"]) == (
                status,
                "error",
                kind,
            )
            assert answer.json()["request_id"] == answer.headers["request-id"]
        broken = events((await http.post("/v1/messages", json=said("Hi.", stream=True))).text)
        assert broken[-1][0] == "error"
        assert broken[-1][1]["error"]["type"] == "api_error"
        async with server.http("wrong") as nobody:
            answer = await nobody.post("/v1/messages", json=said("Hi."))
            assert (answer.status_code, answer.json()["error"]["type"]) == (401, "authentication_error")


async def test_tokens_are_counted_without_asking_a_model(serve: Any, scripted: Any) -> None:
    async with serve(scripted()) as server, server.http() as http:
        sizes = []
        for text in ("word " * 10, "word " * 1000):
            body = {"model": "hermes", "messages": [{"role": "user", "content": text}], "tools": [TOOL]}
            sizes.append((await http.post("/v1/messages/count_tokens", json=body)).json()["input_tokens"])
        wrong = await http.post("/v1/messages/count_tokens", json={"model": "claude", "messages": []})
    assert 0 < sizes[0] < 100 < 1000 < sizes[1] < 3000
    assert wrong.json()["error"]["type"] == "invalid_request_error"


async def test_who_waits_long_is_told_with_a_ping(serve: Any, scripted: Any) -> None:
    go, model = asyncio.Event(), scripted("Done.")
    stream = model.stream

    async def held(request: Any) -> Any:
        await go.wait()
        async for delta in stream(request):
            yield delta

    model.stream = held
    async with (
        serve(model, {"platforms.api.keep_alive_seconds": 0.1}) as server,
        server.http() as http,
        http.stream("POST", "/v1/messages", json=said("Hi.", stream=True)) as answer,
    ):
        seen = []
        async for line in answer.aiter_lines():
            seen.append(line)
            if seen.count("event: ping") == 3:
                go.set()
    assert seen.count("event: message_stop") == 1
    assert ": keep-alive" not in seen
