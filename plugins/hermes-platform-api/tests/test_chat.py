"""Chat completions, as OpenAI's own client sees them."""

import base64
import json
from typing import Any

import openai
import pytest

from hermes_core.errors import Refused
from hermes_core.kinds import tool
from hermes_core.testing import Call, Fail
from hermes_core.types import Blob

PICTURE = "data:image/png;base64," + base64.b64encode(b"\x89PNG....").decode()


@tool(toolset="t")
async def now() -> str:
    """The time."""
    return "noon"


def said(text: Any, **more: Any) -> dict[str, Any]:
    return {"model": "hermes", "messages": [{"role": "user", "content": text}], **more}


async def test_the_official_client_gets_an_answer(serve: Any, scripted: Any) -> None:
    async with serve(scripted("Hello there.")) as server, server.client() as client:
        raw = await client.chat.completions.with_raw_response.create(**said("Hi."))
        whole = raw.parse()
    assert whole.choices[0].message.content == "Hello there."
    assert whole.choices[0].finish_reason == "stop"
    assert whole.id.startswith("chatcmpl-")
    assert (whole.usage.prompt_tokens, whole.usage.completion_tokens, whole.usage.total_tokens) == (10, 2, 12)
    assert raw.headers["x-hermes-completed"] == "true"
    assert raw.headers["x-hermes-session-id"]
    assert raw.headers["x-content-type-options"] == "nosniff"
    assert raw.headers["referrer-policy"] == "no-referrer"


async def test_the_official_client_reads_the_stream(serve: Any, scripted: Any) -> None:
    async with serve(scripted("One two three.")) as server, server.client() as client:
        stream = await client.chat.completions.create(
            **said("Count."), stream=True, stream_options={"include_usage": True}
        )
        chunks = [chunk async for chunk in stream]
    assert "".join(c.choices[0].delta.content or "" for c in chunks if c.choices) == "One two three."
    assert chunks[0].choices[0].delta.role == "assistant"
    assert [c.choices[0].finish_reason for c in chunks if c.choices][-1] == "stop"
    assert chunks[-1].choices == []
    assert chunks[-1].usage.total_tokens == 13
    assert len({c.id for c in chunks}) == 1


async def test_the_clients_own_helper_puts_the_stream_together(serve: Any, scripted: Any) -> None:
    async with (
        serve(scripted("One two three.")) as server,
        server.client() as client,
        client.chat.completions.stream(**said("Count.")) as stream,
    ):
        whole = await stream.get_final_completion()
    assert whole.choices[0].message.content == "One two three."


async def test_the_progress_of_tools_is_told_beside_the_words(serve: Any, scripted: Any) -> None:
    model = scripted(Call("now"), "It is noon.")
    async with serve(model, {"toolsets": ["t"]}, now) as server:
        async with server.http() as http:
            answer = await http.post("/v1/chat/completions", json=said("What time is it?", stream=True))
        events = [block.split("\n") for block in answer.text.strip().split("\n\n")]
        told = [json.loads(lines[1][6:]) for lines in events if lines[0] == "event: hermes.tool.progress"]
    assert [(t["status"], t["tool"]) for t in told] == [("running", "now"), ("completed", "now")]
    assert events[-1] == ["data: [DONE]"]
    assert answer.headers["x-hermes-session-id"]


async def test_the_official_client_tolerates_the_progress_of_tools(serve: Any, scripted: Any) -> None:
    model = scripted(Call("now"), "It is noon.")
    async with serve(model, {"toolsets": ["t"]}, now) as server, server.client() as client:
        stream = await client.chat.completions.create(**said("What time is it?"), stream=True)
        assert "".join([c.choices[0].delta.content or "" async for c in stream]) == "It is noon."


async def test_a_whole_conversation_is_sent_each_time_and_kept_once(serve: Any, scripted: Any) -> None:
    model = scripted("Blue.", "You said blue.", "Yes.")
    async with serve(model) as server, server.client() as client:
        messages: list[Any] = [{"role": "system", "content": "Be brief."}]
        for text in ("What is your colour?", "Which one?", "Sure?"):
            messages.append({"role": "user", "content": text})
            whole = await client.chat.completions.create(model="hermes", messages=messages)
            messages.append({"role": "assistant", "content": whole.choices[0].message.content})
        sessions = await server.ctx.sessions.rows(server.ctx.owner)
    assert [row.messages for row in sessions] == [6]
    prompts = {request.messages[0].parts[0].text for request in model.requests}
    assert len(prompts) == 1
    assert "Be brief." in prompts.pop()


async def test_a_session_goes_on_by_its_id(serve: Any, scripted: Any) -> None:
    model = scripted("One.", "Two.")
    async with serve(model) as server, server.client() as client:
        headers = {"X-Hermes-Session-Id": "my-session"}
        await client.chat.completions.create(**said("a"), extra_headers=headers)
        await client.chat.completions.create(**said("b"), extra_headers=headers)
    assert [m.role for m in model.requests[1].messages] == ["system", "user", "assistant", "user"]


async def test_pictures_reach_the_model(serve: Any, scripted: Any) -> None:
    model = scripted("A cat.")
    parts = [{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": PICTURE}}]
    async with serve(model) as server, server.client() as client:
        await client.chat.completions.create(model="hermes", messages=[{"role": "user", "content": parts}])
    [blob] = [p for p in model.requests[0].messages[-1].parts if isinstance(p, Blob)]
    assert (blob.media_type, blob.data) == ("image/png", b"\x89PNG....")


async def test_calls_of_another_agent_in_the_history_are_taken_as_said(serve: Any, scripted: Any) -> None:
    model = scripted("It was noon.")
    call = {"id": "c1", "type": "function", "function": {"name": "clock", "arguments": "{}"}}
    messages: list[Any] = [
        {"role": "user", "content": "Time?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "noon"},
        {"role": "assistant", "content": "Noon."},
        {"role": "user", "content": "And?"},
    ]
    async with serve(model) as server, server.client() as client:
        await client.chat.completions.create(model="hermes", messages=messages)
    assert [m.role for m in model.requests[0].messages] == ["system", "user", "assistant", "tool", "assistant", "user"]
    assert model.requests[0].messages[3].untrusted


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (said("Hi.", model="gpt-9"), 404, "model_not_found"),
        ({"model": "hermes", "messages": []}, 400, "invalid_value"),
        ({}, 400, "invalid_value"),
        ([], 400, "invalid_value"),
        (said("x" * 1_000_001), 400, "invalid_value"),
        (said(" "), 400, "empty_message"),
        (said("Hi.", n=2), 400, "invalid_value"),
        (said("Hi.", tools=[{"type": "web_search"}]), 400, "invalid_value"),
        ({"messages": [{"role": "user", "content": "Hi."}]}, 400, "invalid_value"),
        ({"model": "hermes", "messages": [{"role": "assistant", "content": "Hi."}]}, 400, "last_message_not_user"),
        ({"model": "hermes", "messages": [{"role": "user", "content": "a"}] * 1001}, 400, "invalid_value"),
        (
            {
                "model": "hermes",
                "messages": [{"role": "user", "content": [{"type": "file", "file": {"file_id": "f"}}]}],
            },
            400,
            "unsupported_content_type",
        ),
        (
            {
                "model": "hermes",
                "messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://x/y"}}]}],
            },
            400,
            "invalid_value",
        ),
    ],
)
async def test_what_cannot_be_done_is_refused_in_openais_words(
    serve: Any, scripted: Any, body: Any, status: int, code: str
) -> None:
    async with serve(scripted()) as server, server.http() as http:
        answer = await http.post("/v1/chat/completions", json=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert set(answer.json()["error"]) == {"message", "type", "param", "code"}


async def test_unknown_fields_are_tolerated(serve: Any, scripted: Any) -> None:
    async with serve(scripted("Hi.")) as server, server.http() as http:
        answer = await http.post("/v1/chat/completions", json=said("Hi.", temperature=0.3, seed=7, who_knows={"a": []}))
    assert answer.status_code == 200


async def test_a_model_that_fails_is_an_error_of_the_client(serve: Any, scripted: Any) -> None:
    refused = Fail(Refused("The model is away.", hint="Take another."))
    async with serve(scripted(refused, refused)) as server, server.client() as client:
        with pytest.raises(openai.InternalServerError, match="The model is away") as caught:
            await client.chat.completions.create(**said("Hi."))
        assert (caught.value.status_code, caught.value.code) == (502, "model_refused")
        assert caught.value.response.headers["x-should-retry"] == "false"
        with pytest.raises(openai.InternalServerError, match="The model is away"):  # before a stream has begun
            await client.chat.completions.create(**said("Hi."), stream=True)


async def test_a_stream_that_breaks_says_so_in_the_stream(serve: Any, scripted: Any) -> None:
    async with serve(scripted(Fail(Refused("No more."), said="Once upon"))) as server, server.client() as client:
        stream = await client.chat.completions.create(**said("Hi."), stream=True)
        assert (await anext(stream)).choices[0].delta.content == "Once upon"
        with pytest.raises(openai.APIError, match="No more"):
            await anext(stream)


async def test_names_of_models_lead_where_the_owner_said(serve: Any, scripted: Any) -> None:
    model = scripted("Big.")
    async with serve(model, {"platforms.api.models": {"big": "scripted:big-1"}}) as server, server.client() as client:
        assert [m.id async for m in client.models.list()] == ["hermes", "big"]
        whole = await client.chat.completions.create(**{**said("Hi."), "model": "big"})
    assert whole.model == "big"
    assert model.requests[0].model == "big-1"


async def test_what_is_wrong_is_told_of_the_kind_of_message_that_was_meant(serve: Any, scripted: Any) -> None:
    async with serve(scripted()) as server, server.http() as http:
        answer = await http.post("/v1/chat/completions", json=said("x" * 1_000_001))
        other = await http.post(
            "/v1/chat/completions", json={"model": "hermes", "messages": [{"role": "nobody", "content": "Hi."}]}
        )
    assert answer.json()["error"]["param"] == "messages[0].content"
    assert other.json()["error"]["param"] == "messages[0].role"
