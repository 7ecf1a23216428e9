"""The Responses protocol, through the SDK."""

import builtins
import json

import pytest
from attrs import evolve

from hermes_core.errors import AuthError, ProviderError, RateLimited, Unavailable, UserError
from hermes_core.testing.contract_provider import ODD_SCHEMA
from hermes_core.testing.protocol_replies import Said, SaidCall, events_of, reply_of, stream_of
from hermes_core.types import Message, Text, ToolCall, ToolResult, ToolSpec

SEALED = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAA"}
CALL = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "look", "arguments": '{"at":"x"}'}
COUNTS = {"input": 9, "output": 4, "cached": 5, "reasoning": 2}
BASE = reply_of("responses", Said(usage=COUNTS))


def events(*found: dict) -> str:
    return "".join(
        f"event: {e['type']}\ndata: {json.dumps({'sequence_number': i, **e})}\n\n" for i, e in enumerate(found)
    )


def text(delta: str) -> dict:
    at = {"item_id": "m", "output_index": 0, "content_index": 0, "logprobs": []}
    return {"type": "response.output_text.delta", "delta": delta, **at}


def end(kind: str = "completed", **more: object) -> dict:
    return {"type": f"response.{kind}", "response": {**BASE, "status": kind, **more}}


async def test_text_thoughts_calls_and_usage_come_through(service, at, ask, reply):
    thought = {"type": "response.reasoning_summary_text.delta", "delta": "hm", "item_id": "r", "output_index": 0}
    service.always = reply.sse(
        events(
            {**thought, "summary_index": 0},
            {"type": "response.output_item.done", "output_index": 0, "item": SEALED},
            text("Hi "),
            text("there"),
            {"type": "response.output_item.done", "output_index": 1, "item": CALL},
            end(),
        )
    )
    heard = await ask(at(protocol="responses"))
    assert heard.facts() == {
        "text": "Hi there",
        "reasoning": "hm",
        "calls": [["look", {"at": "x"}]],
        "reason": "tools",
        "usage": [9, 4, 5, 0, 2],
    }
    assert heard.ids == ["call_1"]
    assert heard.done[0].meta == {"custom": {"items": [SEALED]}}


async def test_a_reply_comes_through_as_openai_streams_it(service, at, ask, reply):
    said = Said(pieces=("Hi ", "there"), calls=(SaidCall("look", '{"at":"x"}'),), thinking="hm", usage=COUNTS)
    for protocol in ("chat", "responses"):
        service.always = reply.said(protocol, said)
        heard = await ask(at(protocol=protocol))
        assert heard.facts() == {
            "text": "Hi there",
            "reasoning": "hm"
            if protocol == "responses"
            else "",  # of thoughts the other protocol tells the number alone
            "calls": [["look", {"at": "x"}]],
            "reason": "tools",
            "usage": [9, 4, 5, 0, 2],
        }
        assert heard.ids == ["call_1"]


async def test_a_conversation_goes_back_with_its_sealed_reasoning(service, at, ask, hello, reply):
    service.always = reply.sse(events(text("ok"), end()))
    call = ToolCall(id="call_1", name="look", arguments={"at": "x"})
    result = ToolResult(call_id="call_1", name="look", parts=(Text(text="seen"),))
    request = evolve(
        hello,
        model="gpt-5",
        messages=(
            Message(role="system", parts=(Text(text="s"),)),
            *hello.messages,
            Message(role="assistant", parts=(call,), meta={"openai": {"items": [SEALED]}}),
            Message(role="tool", parts=(result,)),
        ),
        tools=(ToolSpec(name="look", description="Look.", schema=ODD_SCHEMA),),
        options={"effort": "high", "max_tokens": 50, "temperature": 1.0},
    )
    assert (await ask(at("openai", protocol="responses"), request)).text == "ok"
    body = service.asked[-1].body
    assert service.asked[-1].path == "/v1/responses"
    assert body["tools"][0]["parameters"] == ODD_SCHEMA
    assert body["input"] == [
        {"role": "developer", "content": [{"type": "input_text", "text": "s"}]},
        {"role": "user", "content": [{"type": "input_text", "text": "hello"}]},
        SEALED,
        {"type": "function_call", "call_id": "call_1", "name": "look", "arguments": '{"at":"x"}'},
        {"type": "function_call_output", "call_id": "call_1", "output": "seen"},
    ]
    assert body["store"] is False
    assert body["include"] == ["reasoning.encrypted_content"]
    assert body["reasoning"] == {"summary": "auto", "effort": "high"}
    assert body["max_output_tokens"] == 50
    assert "temperature" not in body


async def test_its_ends_and_failures_are_told_apart(service, at, ask, reply):
    incomplete = end("incomplete", incomplete_details={"reason": "max_output_tokens"})
    service.always = reply.sse(events(text("a"), incomplete))
    assert (await ask(at(protocol="responses"))).done[0].reason == "length"
    failed = end("failed", error={"code": "rate_limit_exceeded", "message": "slow down"})
    for stream, error in (
        (events(text("a"), failed), RateLimited),
        (events(text("a")), Unavailable),
        (events({"type": "error", "code": "server_error", "message": "boom", "param": None}), Unavailable),
    ):
        service.always = reply.sse(stream)
        with pytest.raises(error):
            await ask(at(protocol="responses"))
    service.always = reply.http(401, '{"error": {"message": "bad key"}}')
    with pytest.raises(AuthError, match="bad key"):
        await ask(at(protocol="responses"))
    with pytest.raises(Unavailable, match="Cannot connect"):
        await ask(at(protocol="responses", base_url="http://127.0.0.1:1/v1"))


async def test_without_the_sdk_it_says_what_to_install(at, ask, monkeypatch):
    there = builtins.__import__

    def absent(name: str, *rest: object) -> object:
        if name == "openai":
            raise ImportError(name)
        return there(name, *rest)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(UserError, match=r"pip install 'hermes-openai-wire\[responses\]'"):
        await ask(at(protocol="responses"))


@pytest.mark.long
async def test_a_reply_that_is_cut_at_any_byte_is_whole_or_an_error(service, at, ask, reply):
    said = Said(pieces=("Hi ", "there"), calls=(SaidCall("look", '{"at":"x"}'),), usage=COUNTS)
    stream = stream_of("responses", events_of("responses", said))
    provider = at(protocol="responses")
    service.always = reply.sse(stream)
    whole = (await ask(provider)).facts()
    last = stream.rindex(b"\ndata: ")  # the event that ends a reply is the last but nothing
    outcomes = set()
    for cut in range(len(stream)):
        service.always = reply.sse(stream[:cut])
        try:
            heard = (await ask(provider)).facts()
        except ProviderError:
            outcomes.add("error")
            continue
        assert heard == whole, cut
        assert cut > last, cut
        outcomes.add("whole")
    assert "error" in outcomes
