"""What is sent is what the protocol takes: turns, calls with their signatures, results, files, thinking."""

import base64
import json

import pytest

from hermes_core.errors import AuthError, UserError
from hermes_core.types import Blob, Endpoint, Message, Reasoning, Request, Text, ToolCall, ToolResult, ToolSpec
from hermes_provider_gemini.line import SERVICE
from hermes_provider_gemini.provider import Gemini, all_providers
from hermes_provider_gemini.thinking import thinking_config

SPEC = ToolSpec(name="add", description="Add.", schema={"type": "object", "properties": {"a": {"type": "integer"}}})


def user(*parts):
    return Message(role="user", parts=parts)


def called(*ids, signed=True, key="gemini"):
    meta = {key: {"signature": "c2ln"}} if signed else {}
    calls = [
        ToolCall(id=one, name="add", arguments={"a": 1}, meta=meta if at == 0 else {}) for at, one in enumerate(ids)
    ]
    return Message(role="assistant", parts=(Text(text="I add."), *calls))


def result(call_id, text, failed=False, *blobs):
    return Message(
        role="tool", parts=(ToolResult(call_id=call_id, name="add", parts=(Text(text=text), *blobs), failed=failed),)
    )


@pytest.fixture
def body(at):
    async def make(*messages, model="gemini-3-pro", options=None, **endpoint):
        request = Request(model=model, messages=messages, tools=(SPEC,), options=options or {})
        return json.loads(await at(**endpoint).body(request))

    return make


async def test_results_of_one_reply_stand_together_and_before_what_is_said_next(body):
    made = await body(
        Message(role="system", parts=(Text(text="Be terse."),)),
        user(Text(text="go")),
        called("1", "2"),
        result("1", "3"),
        result("2", "no", True),
        user(Text(text="and now?")),
    )
    assert made["systemInstruction"] == {"parts": [{"text": "Be terse."}]}
    assert [turn["role"] for turn in made["contents"]] == ["user", "model", "user"]
    said, first, second = made["contents"][1]["parts"]
    assert said == {"text": "I add."}
    assert first == {"functionCall": {"name": "add", "args": {"a": 1}}, "thoughtSignature": "c2ln"}
    assert second == {"functionCall": {"name": "add", "args": {"a": 1}}}
    assert made["contents"][2]["parts"] == [
        {"functionResponse": {"name": "add", "response": {"output": "3"}}},
        {"functionResponse": {"name": "add", "response": {"error": "no"}}},
        {"text": "and now?"},
    ]


@pytest.mark.parametrize("message", [called("1", signed=False), called("1", key="anthropic")])
async def test_a_call_that_another_model_made_is_marked_as_one_for_models_that_check(body, message):
    made = await body(user(Text(text="go")), message, result("1", "3"))
    assert made["contents"][1]["parts"][1]["thoughtSignature"] == "skip_thought_signature_validator"
    older = await body(user(Text(text="go")), message, result("1", "3"), model="gemini-2.5-flash")
    assert "thoughtSignature" not in older["contents"][1]["parts"][1]


async def test_the_signature_of_an_answer_goes_back_with_its_text(body):
    kept = Reasoning(text="", meta={"gemini": {"signature": "YW5zd2Vy"}})
    answer = Message(role="assistant", parts=(kept, Text(text="Six.")))
    made = await body(user(Text(text="go")), answer, user(Text(text="sure?")))
    assert made["contents"][1]["parts"] == [{"text": "Six.", "thoughtSignature": "YW5zd2Vy"}]


async def test_a_user_begins_and_ends_and_no_turn_is_empty(body):
    made = await body(Message(role="assistant", parts=(Text(text=" "),)))
    assert [turn["role"] for turn in made["contents"]] == ["user", "model", "user"]
    assert all(turn["parts"] for turn in made["contents"])


async def test_files_are_carried_or_named(body, tmp_path):
    (tmp_path / "a.png").write_bytes(b"png")
    picture = Blob(media_type="image/png", path=str(tmp_path / "a.png"))
    gone = Blob(media_type="application/pdf", path=str(tmp_path / "b.pdf"), name="b.pdf")
    archive = Blob(media_type="application/zip", data=b"zip", name="c.zip")
    made = await body(user(picture, gone, archive), called("1"), result("1", "see", False, picture))
    encoded = {"inlineData": {"mimeType": "image/png", "data": base64.b64encode(b"png").decode()}}
    first, second, third = made["contents"][0]["parts"]
    assert first == encoded
    assert "cannot be read" in second["text"]
    assert third == {"text": "[file c.zip, application/zip]"}
    assert made["contents"][2]["parts"][1] == encoded


@pytest.mark.parametrize(
    ("model", "effort", "expected"),
    [
        ("gemini-3-pro", "", {"includeThoughts": True}),
        ("gemini-3.1-pro-preview", "none", {"includeThoughts": True, "thinkingLevel": "low"}),
        ("gemini-3.1-pro-preview", "max", {"includeThoughts": True, "thinkingLevel": "high"}),
        ("gemini-flash-latest", "medium", {"includeThoughts": True, "thinkingLevel": "medium"}),
        ("gemini-2.5-flash", "none", {"thinkingBudget": 0}),
        ("gemini-2.5-pro", "none", {"includeThoughts": True, "thinkingBudget": 128}),
        ("gemini-2.5-pro", "high", {"includeThoughts": True, "thinkingBudget": 20000}),
        ("gemini-2.0-flash", "high", {}),
        ("gemini-3-pro-image", "high", {}),
        ("gemma-3-27b-it", "high", {}),
    ],
)
def test_effort_is_said_in_the_words_of_the_generation(model, effort, expected):
    assert thinking_config(model, effort) == expected


async def test_options_are_sent_and_extra_fields_are_laid_over(body):
    made = await body(
        user(Text(text="go")),
        options={"max_tokens": 99, "temperature": 5},
        extra_body={"generationConfig": {"topK": 3}, "safetySettings": [], "tools": None},
    )
    assert made["generationConfig"] == {
        "maxOutputTokens": 99,
        "temperature": 2,
        "thinkingConfig": {"includeThoughts": True},
        "topK": 3,
    }
    assert made["safetySettings"] == []
    assert "tools" not in made


async def test_a_name_with_its_maker_is_understood(service, at, ask, reply, hello):
    service.always = reply.sse(reply.piece({"text": "a"}, reason="STOP"))
    await ask(at(), Request(model="google/gemini-3-pro", messages=hello.messages))
    assert service.asked[0].path == "/models/gemini-3-pro:streamGenerateContent?alt=sse"
    assert service.asked[0].headers["x-goog-api-key"] == "AIza-test-123"


async def test_without_a_key_nothing_is_asked(keys, hello):
    with pytest.raises(AuthError, match="needs a key"):
        [delta async for delta in Gemini(SERVICE, keys()).stream(hello)]


async def test_another_protocol_is_refused(keys):
    with pytest.raises(UserError, match="no other"):
        Gemini(SERVICE, keys()).at(Endpoint(name="gemini", protocol="chat"))


async def test_only_its_own_name_is_chosen_by_itself(keys):
    found = {one.name: await one.ready() for one in all_providers(keys(GOOGLE_API_KEY="k"), {})}
    assert found == {"gemini": True, "google": False, "google-ai-studio": False}
    assert not await Gemini(SERVICE, keys()).ready()
