"""What a model thinks is sent where a client's protocol has a place for it."""

import json
from typing import Any

import pytest

from hermes_core.errors import Refused
from hermes_core.hooks import hookimpl
from hermes_core.kinds import tool
from hermes_core.testing import Call, Fail, Say
from hermes_core.types import CallDelta, Done, ReasoningDelta, TextDelta, Usage, UsageDelta, Verdict

ASK: dict[str, Any] = {"model": "hermes", "messages": [{"role": "user", "content": "Hi."}]}
MESSAGE: dict[str, Any] = {**ASK, "max_tokens": 99, "thinking": {"type": "adaptive"}}
INPUT: dict[str, Any] = {"model": "hermes", "input": "Hi."}
CALLING: Any = [
    *(ReasoningDelta(text=piece) for piece in ("What is ", "the time?")),
    TextDelta(text="Let me look."),
    CallDelta(index=0, id="c1", name="now", arguments="{}"),
    UsageDelta(usage=Usage(input=10, output=9, reasoning=6, calls=1)),
    Done(reason="tools"),
]
ANSWER = Say("It is noon.", thinking="Noon, so.")


@tool(toolset="t")
async def now() -> str:
    """The time."""
    return "noon"


def serving(serve: Any, scripted: Any) -> Any:
    """A model that thinks, says something, calls a tool, thinks again and answers."""
    return serve(scripted(CALLING, ANSWER), {"toolsets": ["t"]}, now)


def told(text: str) -> list[Any]:
    """The data of events."""
    lines = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: ")]
    return [json.loads(line) for line in lines if line != "[DONE]"]


async def test_a_chat_completion_has_what_was_thought(serve: Any, scripted: Any) -> None:
    async with serving(serve, scripted) as server, server.client() as client:
        whole = await client.chat.completions.create(**ASK)
    assert whole.choices[0].message.content == "It is noon."
    assert whole.choices[0].message.reasoning_content == "What is the time?\n\nNoon, so."
    assert whole.usage.completion_tokens_details.reasoning_tokens == 6


async def test_a_chat_completion_streams_what_is_thought(serve: Any, scripted: Any) -> None:
    async with serving(serve, scripted) as server, server.client() as client:
        deltas = [one.choices[0].delta async for one in await client.chat.completions.create(**ASK, stream=True)]
    thoughts = [delta.reasoning_content for delta in deltas if getattr(delta, "reasoning_content", None)]
    assert thoughts == ["What is ", "the time?", "\n\nNoon, so."]
    assert "".join(delta.content or "" for delta in deltas) == "Let me look.\n\nIt is noon."
    assert [delta.role for delta in deltas if delta.role] == [deltas[0].role] == ["assistant"]


async def test_who_thought_nothing_says_nothing_of_it(serve: Any, scripted: Any) -> None:
    async with serve(scripted(*["Hello."] * 3)) as server, server.http() as http:
        chat = (await http.post("/v1/chat/completions", json=ASK)).json()
        message = (await http.post("/v1/messages", json=MESSAGE)).json()
        response = (await http.post("/v1/responses", json=INPUT)).json()
    assert "reasoning_content" not in chat["choices"][0]["message"]
    assert [block["type"] for block in message["content"]] == ["text"]
    assert [item["type"] for item in response["output"]] == ["message"]


async def test_a_response_has_an_item_for_each_thought(serve: Any, scripted: Any) -> None:
    async with serving(serve, scripted) as server, server.client() as client:
        whole = await client.responses.create(**INPUT)
    assert [item.type for item in whole.output] == ["reasoning", "reasoning", "message"]
    assert [item.content[0].text for item in whole.output[:2]] == ["What is the time?", "Noon, so."]
    assert [item.summary for item in whole.output[:2]] == [[], []]
    assert whole.output_text == "It is noon."
    assert len({item.id for item in whole.output}) == 3


async def test_who_asks_for_a_summary_finds_the_thoughts_there(serve: Any, scripted: Any) -> None:
    async with serving(serve, scripted) as server, server.client() as client:
        whole = await client.responses.create(**INPUT, reasoning={"summary": "auto"})
    assert [item.summary[0].text for item in whole.output[:2]] == ["What is the time?", "Noon, so."]
    assert [item.content for item in whole.output[:2]] == [None, None]
    assert whole.reasoning.summary == "auto"


@pytest.mark.parametrize("summary", [None, "auto"])
async def test_a_stream_tells_thoughts_and_texts_one_after_the_other(serve: Any, scripted: Any, summary: Any) -> None:
    text = ["response.output_text.delta", "response.output_text.done"]
    thought = ["response.reasoning.delta", "response.reasoning.done"]
    if summary:
        thought = [f"response.reasoning_summary_text.{end}" for end in ("delta", "done")]
    async with serving(serve, scripted) as server, server.http() as http:
        body = {**INPUT, "stream": True, "reasoning": {"summary": summary}}
        events = told((await http.post("/v1/responses", json=body)).text)
    kinds = [event["type"] for event in events]
    assert [kind for kind in dict.fromkeys(kinds) if kind in (*text, *thought)] == [*thought, *text]
    added = [event for event in events if event["type"] == "response.output_item.added"]
    done = [event for event in events if event["type"] == "response.output_item.done"]
    assert [event["output_index"] for event in added] == [event["output_index"] for event in done] == [0, 1, 2, 3]
    assert [event["item"]["id"] for event in added] == [event["item"]["id"] for event in done]
    assert [event["item"]["type"] for event in done] == ["reasoning", "message"] * 2
    edges = [kind for kind in kinds if kind.startswith("response.output_item.")]
    assert edges == ["response.output_item.added", "response.output_item.done"] * 4
    whole = events[-1]["response"]
    assert whole["output"] == [event["item"] for event in done]
    for index, item in enumerate(whole["output"]):
        delta = (text if item["type"] == "message" else thought)[0]
        pieces = [e["delta"] for e in events if e["type"] == delta and e["output_index"] == index]
        [part] = item["summary"] if summary and item["type"] == "reasoning" else item["content"]
        assert "".join(pieces) == part["text"]
        assert {e["item_id"] for e in events if e["type"] == delta and e["output_index"] == index} == {item["id"]}


@pytest.mark.parametrize("summary", [None, "auto"])
async def test_openais_helper_puts_a_stream_with_thoughts_together(serve: Any, scripted: Any, summary: Any) -> None:
    async with (
        serving(serve, scripted) as server,
        server.client() as client,
        client.responses.stream(**INPUT, reasoning={"summary": summary}) as stream,
    ):
        whole = await stream.get_final_response()
    assert [item.type for item in whole.output] == ["reasoning", "message", "reasoning", "message"]
    assert whole.output_text == "Let me look.\n\nIt is noon."


async def test_a_thought_that_a_failure_cuts_is_in_the_failed_response(serve: Any, scripted: Any) -> None:
    model = scripted(CALLING, Fail(Refused("No.")))
    async with serve(model, {"toolsets": ["t"]}, now) as server, server.http() as http:
        events = told((await http.post("/v1/responses", json={**INPUT, "stream": True})).text)
    whole = events[-1]["response"]
    assert (events[-1]["type"], whole["status"]) == ("response.failed", "failed")
    assert [item["type"] for item in whole["output"]] == ["reasoning", "message"]
    assert whole["output"][1]["status"] == "incomplete"


async def test_a_message_has_thoughts_before_its_text(serve: Any, scripted: Any) -> None:
    async with serving(serve, scripted) as server, server.http() as http:
        whole = (await http.post("/v1/messages", json=MESSAGE)).json()
    thoughts = [{"type": "thinking", "thinking": t, "signature": ""} for t in ("What is the time?", "Noon, so.")]
    assert whole["content"] == [*thoughts, {"type": "text", "text": "It is noon.", "citations": None}]
    assert whole["usage"]["output_tokens_details"] == {"thinking_tokens": 6}


@pytest.mark.parametrize("thinking", [None, {"type": "disabled"}])
@pytest.mark.parametrize("stream", [False, True])
async def test_a_message_has_no_thoughts_that_were_not_asked_for(
    serve: Any, scripted: Any, thinking: Any, stream: bool
) -> None:
    async with serving(serve, scripted) as server, server.http() as http:
        answer = await http.post("/v1/messages", json={**MESSAGE, "thinking": thinking, "stream": stream})
    events = told(answer.text) if stream else []
    blocks = [e["content_block"] for e in events if "content_block" in e] if stream else answer.json()["content"]
    assert [block["type"] for block in blocks] == ["text"]


@pytest.mark.parametrize("display", ["summarized", "omitted"])
async def test_a_message_streams_a_block_for_each_thought(serve: Any, scripted: Any, display: str) -> None:
    async with serving(serve, scripted) as server, server.http() as http:
        body = {**MESSAGE, "stream": True, "thinking": {"type": "enabled", "budget_tokens": 2048, "display": display}}
        events = told((await http.post("/v1/messages", json=body)).text)
    opened = [(e["index"], e["content_block"]["type"]) for e in events if e["type"] == "content_block_start"]
    assert opened == [(0, "thinking"), (1, "text"), (2, "thinking"), (3, "text")]
    edges = [(e["type"][14:], e["index"]) for e in events if e["type"] in ("content_block_start", "content_block_stop")]
    assert edges == [(edge, index) for index in range(4) for edge in ("start", "stop")]
    pieces = [(e["index"], e["delta"]) for e in events if e["type"] == "content_block_delta"]
    thoughts = [(index, delta["thinking"]) for index, delta in pieces if delta["type"] == "thinking_delta"]
    shown = [(0, "What is "), (0, "the time?"), (2, "Noon, so.")]
    assert thoughts == (shown if display == "summarized" else [])
    assert [index for index, delta in pieces if delta["type"] == "signature_delta"] == [0, 2]
    assert "".join(delta.get("text", "") for _, delta in pieces) == "Let me look.\n\nIt is noon."


@pytest.mark.parametrize(
    ("path", "body", "effort"),
    [
        ("chat/completions", {**ASK, "reasoning_effort": "low"}, "low"),
        ("chat/completions", ASK, "medium"),
        ("responses", {**INPUT, "reasoning": {"effort": "high"}}, "high"),
        ("messages", {**MESSAGE, "thinking": {"type": "disabled"}}, "none"),
        ("messages", {**MESSAGE, "thinking": {"type": "enabled", "budget_tokens": 1024}}, "minimal"),
        ("messages", {**MESSAGE, "thinking": {"type": "enabled", "budget_tokens": 32000}}, "high"),
        ("messages", {**MESSAGE, "output_config": {"effort": "max"}}, "max"),
        ("messages", MESSAGE, "medium"),
    ],
)
async def test_how_hard_to_think_is_heeded(serve: Any, scripted: Any, path: str, body: Any, effort: str) -> None:
    model = scripted("Hello.")
    async with serve(model, {"model.effort": "medium"}) as server, server.http() as http:
        assert (await http.post(f"/v1/{path}", json=body)).status_code == 200
    assert model.requests[0].options["effort"] == effort


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("path", ["chat/completions", "responses", "messages"])
async def test_who_sends_thoughts_back_goes_on_in_the_same_session(
    serve: Any, scripted: Any, path: str, stream: bool
) -> None:
    model = scripted(CALLING, ANSWER, "Yes.")
    async with serve(model, {"toolsets": ["t"]}, now) as server, server.http() as http:
        body = {"responses": INPUT, "messages": MESSAGE}.get(path, ASK)
        first = await http.post(f"/v1/{path}", json={**body, "stream": stream})
        given = "input" if path == "responses" else "messages"
        history = [{"role": "user", "content": "Hi."}, *said(path, first, stream), {"role": "user", "content": "Sure?"}]
        second = await http.post(f"/v1/{path}", json={**body, given: history})
    assert second.status_code == 200, second.text
    assert second.headers["x-hermes-session-id"] == first.headers["x-hermes-session-id"]


def said(path: str, answer: Any, stream: bool) -> list[Any]:
    """What a client keeps of an answer, to send it again."""
    events = told(answer.text) if stream else []
    if path == "responses":
        whole: dict[str, Any] = events[-1]["response"] if stream else answer.json()
        return list(whole["output"])
    if path == "messages" and not stream:
        return [{"role": "assistant", "content": answer.json()["content"]}]
    if path == "messages":
        blocks = [e["content_block"] for e in events if e["type"] == "content_block_start"]
        for e in events:
            if e["type"] == "content_block_delta":
                for name in ("thinking", "text", "signature"):
                    blocks[e["index"]][name] = blocks[e["index"]].get(name, "") + e["delta"].get(name, "")
        return [{"role": "assistant", "content": [{k: v for k, v in b.items() if v or k != "text"} for b in blocks]}]
    if not stream:
        return [answer.json()["choices"][0]["message"]]
    deltas = [e["choices"][0]["delta"] for e in events]
    return [{"role": "assistant", "content": "".join(delta.get("content") or "" for delta in deltas)}]


async def test_words_between_two_calls_keep_the_session_of_a_client_with_tools(serve: Any, scripted: Any) -> None:
    weather = {"type": "function", "function": {"name": "get_weather"}}
    model = scripted(Call("client_get_weather"), CALLING, ANSWER, "Yes.")
    async with serve(model, {"toolsets": ["t", "client"]}, now) as server, server.http() as http:
        body: dict[str, Any] = {**ASK, "tools": [weather]}
        first = await http.post("/v1/chat/completions", json=body)
        made = first.json()["choices"][0]["message"]
        result = {"role": "tool", "tool_call_id": made["tool_calls"][0]["id"], "content": "Rain."}
        history = [*ASK["messages"], made, result]
        second = await http.post("/v1/chat/completions", json={**body, "messages": history, "stream": True})
        history += [*said("chat", second, stream=True), {"role": "user", "content": "Sure?"}]
        third = await http.post("/v1/chat/completions", json={**body, "messages": history})
    assert third.json()["choices"][0]["message"]["content"] == "Yes."
    assert third.headers["x-hermes-session-id"] == first.headers["x-hermes-session-id"]


@hookimpl
async def may_end(answer: str) -> Verdict | None:
    """Not with the first answer."""
    return Verdict(outcome="deny", reason="look again") if answer == "One." else None


async def test_an_answer_that_was_sent_on_does_not_run_into_the_next(serve: Any, scripted: Any) -> None:
    async with serve(scripted("One.", "Two."), None, may_end) as server, server.client() as client:
        deltas = [one.choices[0].delta async for one in await client.chat.completions.create(**ASK, stream=True)]
    assert "".join(delta.content or "" for delta in deltas) == "One.\n\nTwo."
