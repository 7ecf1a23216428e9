"""What is sent: messages in turns, tools, breakpoints, thinking, and thoughts given back."""

import base64
import json

import pytest
from attrs import evolve

from hermes_core.types import Blob, Message, Reasoning, Request, Text, ToolCall, ToolResult, ToolSpec

PIXEL = b"\x89PNG pixel"
IMAGE = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": base64.b64encode(PIXEL).decode()},
}
MARK = {"type": "ephemeral"}


@pytest.fixture
def sent(service, at, ask, reply):
    """``await sent(request, "minimax", …)``: the body the service got."""

    async def send(request: Request, name: str = "anthropic", **fields: object) -> dict:
        service.always = reply.sse(reply.begin(), *reply.text(0, "x"), *reply.finish())
        await ask(at(name, **fields), request)
        return service.asked[-1].body

    return send


def talk(*messages: Message, **fields: object) -> Request:
    return Request(model=fields.pop("model", "m"), messages=messages, **fields)


def system(text: str) -> Message:
    return Message(role="system", parts=(Text(text=text),))


def user(*parts: object) -> Message:
    return Message(role="user", parts=tuple(Text(text=p) if isinstance(p, str) else p for p in parts))


def assistant(*parts: object) -> Message:
    return Message(role="assistant", parts=tuple(Text(text=p) if isinstance(p, str) else p for p in parts))


def look(call_id: str, at: str = "x") -> ToolCall:
    return ToolCall(id=call_id, name="look", arguments={"at": at})


def seen(call_id: str, *parts: object, failed: bool = False) -> Message:
    return Message(role="tool", parts=(ToolResult(call_id=call_id, name="look", parts=parts, failed=failed),))


def thoughts(*blocks: dict, key: str = "anthropic", text: str = "hm") -> Reasoning:
    return Reasoning(text=text, meta={key: {"blocks": list(blocks)}})


def bare(body: dict) -> list:
    """The messages without their breakpoints."""
    return [
        {
            "role": turn["role"],
            "content": [{k: v for k, v in b.items() if k != "cache_control"} for b in turn["content"]],
        }
        for turn in body["messages"]
    ]


def marks(body: dict) -> list:
    """Where the breakpoints are: (message, block), the system prompt being message -1."""
    found = [(-1, i) for i, block in enumerate(body.get("system", [])) if "cache_control" in block]
    for at, turn in enumerate(body["messages"]):
        found += [(at, i) for i, block in enumerate(turn["content"]) if "cache_control" in block]
    return found


SIGNED = {"type": "thinking", "thinking": "hm", "signature": "EqoB+/="}


async def test_a_conversation_has_the_shape_of_the_protocol(service, sent):
    spec = ToolSpec(name="look", description="Look.", schema={"type": "object", "properties": {}})
    request = talk(
        system("Be kind."),
        user("go"),
        assistant("Looking.", look("toolu_1"), look("toolu_2", "世界")),
        seen("toolu_1", Text(text="a cat"), Blob(media_type="image/png", data=PIXEL)),
        seen("toolu_2", Text(text="no such place"), failed=True),
        user("and now?"),
        tools=(spec,),
    )
    body = await sent(request)
    assert body["system"] == [{"type": "text", "text": "Be kind.", "cache_control": MARK}]
    assert bare(body) == [
        {"role": "user", "content": [{"type": "text", "text": "go"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "Looking."},
                {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"at": "x"}},
                {"type": "tool_use", "id": "toolu_2", "name": "look", "input": {"at": "世界"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "toolu_1",
                    "content": [{"type": "text", "text": "a cat"}, IMAGE],
                },
                {
                    "type": "tool_result",
                    "tool_use_id": "toolu_2",
                    "content": [{"type": "text", "text": "no such place"}],
                    "is_error": True,
                },
                {"type": "text", "text": "and now?"},
            ],
        },
    ]
    assert body["tools"] == [
        {"name": "look", "description": "Look.", "input_schema": {"type": "object", "properties": {}}}
    ]
    assert (body["stream"], body["model"]) == (True, "m")
    assert isinstance(body["max_tokens"], int)
    assert "thinking" not in body
    headers = service.asked[-1].headers
    assert headers["x-api-key"] == "sk-ant-test-1234567890"
    assert headers["anthropic-version"] == "2023-06-01"
    assert "authorization" not in headers


async def test_breakpoints_are_the_system_prompt_and_the_last_three_messages(sent):
    long = talk(system("s"), *(m for i in range(5) for m in (user(f"q{i}"), assistant(f"a{i}"))), user("last"))
    assert marks(await sent(long)) == [(-1, 0), (8, 0), (9, 0), (10, 0)]
    assert marks(await sent(talk(system("s"), user("one")))) == [(-1, 0), (0, 0)]
    assert marks(await sent(talk(*long.messages[1:]))) == [(8, 0), (9, 0), (10, 0)]


async def test_no_breakpoint_stands_on_a_thought_or_on_nothing(sent):
    thinking = assistant(thoughts(SIGNED, {"type": "tool_use", "id": "t1"}), look("t1"))
    body = await sent(talk(system("s"), user("a"), thinking, seen("t1"), user("")))
    assert marks(body) == [(-1, 0), (0, 0), (1, 1), (2, 0)]
    assert all(block.get("text", "x").strip() for turn in body["messages"] for block in turn["content"])


async def test_the_user_may_have_breakpoints_kept_longer_or_none(sent):
    request = talk(system("s"), user("a"))
    hour = {"type": "ephemeral", "ttl": "1h"}
    body = await sent(request, extra_body={"cache_control": hour})
    assert body["system"][0]["cache_control"] == body["messages"][0]["content"][0]["cache_control"] == hour
    assert "cache_control" not in body
    body = await sent(request, extra_body={"cache_control": None})
    assert marks(body) == []
    assert "cache_control" not in body


async def test_user_and_assistant_take_turns_and_a_user_begins_and_ends(sent):
    body = await sent(talk(system("s"), assistant("a"), assistant("b"), user("c"), user("d"), assistant("e")))
    assert [turn["role"] for turn in body["messages"]] == ["user", "assistant", "user", "assistant", "user"]
    assert [b["text"] for b in body["messages"][1]["content"]] == ["a", "b"]
    late = await sent(talk(system("s"), user("a"), system("from now on rhyme"), user("b")))
    assert [b["text"] for b in late["messages"][0]["content"]] == ["a", "from now on rhyme", "b"]
    empty = await sent(talk())
    assert empty["messages"][0]["role"] == "user"
    assert "system" not in empty


async def test_content_is_never_empty_or_blank(sent):
    body = await sent(talk(system("  "), user(), assistant(" \n"), assistant(look("c")), seen("c"), user("\n")))
    assert "system" not in body
    for turn in body["messages"]:
        assert turn["content"]
        assert all(block.get("text", "x").strip() for block in turn["content"])
    assert bare(body)[2]["content"][0]["content"] == [{"type": "text", "text": "(no output)"}]


async def test_files_are_sent_or_named(sent, tmp_path):
    picture = tmp_path / "p.png"
    picture.write_bytes(PIXEL)
    message = user(
        "see",
        Blob(media_type="image/png", path=str(picture)),
        Blob(media_type="image/png", path=str(tmp_path / "gone.png")),
        Blob(media_type="application/pdf", data=b"%PDF", name="a.pdf"),
        Blob(media_type="image/tiff", data=b"II*", name="b.tiff"),
    )
    content = bare(await sent(talk(message)))[0]["content"]
    assert content[1] == IMAGE
    assert "cannot be read" in content[2]["text"]
    assert content[3]["type"] == "document"
    assert content[4]["text"] == "[file b.tiff, image/tiff]"
    blind = bare(await sent(talk(message, model="MiniMax-M2.5"), "minimax"))[0]["content"]
    assert {block["type"] for block in blind} == {"text"}


async def test_what_a_reply_thought_goes_back_untouched_and_in_its_place(service, at, ask, reply):
    stream = [
        *reply.thought(0, "", "c2lnMQ=="),
        *reply.call(1, "toolu_1", "look", '{"at":"x"}'),
        *reply.thought(2, "Now 世界.", "c2lnMg=="),
        *reply.text(3, "And y."),
        *reply.block(4, {"type": "redacted_thinking", "data": "ZGF0YQ=="}),
        *reply.call(5, "toolu_2", "look", '{"at":"y"}'),
    ]
    service.always = reply.sse(reply.begin(), *stream, *reply.finish("tool_use"))
    provider = at()
    heard = await ask(provider)
    stored = json.loads(json.dumps(heard.kept))  # as the store keeps it
    again = assistant(Reasoning(text=heard.reasoning, meta=stored), heard.text, look("toolu_1"), look("toolu_2", "y"))
    await ask(provider, talk(user("a"), again, seen("toolu_1"), seen("toolu_2")))
    assert bare(service.asked[-1].body)[1]["content"] == [
        {"type": "thinking", "thinking": "", "signature": "c2lnMQ=="},
        {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"at": "x"}},
        {"type": "thinking", "thinking": "Now 世界.", "signature": "c2lnMg=="},
        {"type": "text", "text": "And y."},
        {"type": "redacted_thinking", "data": "ZGF0YQ=="},
        {"type": "tool_use", "id": "toolu_2", "name": "look", "input": {"at": "y"}},
    ]


@pytest.mark.parametrize(
    "layout",
    [
        [SIGNED],
        [{"type": "text", "length": 99}, SIGNED, {"type": "tool_use", "id": "t1"}],
        [{"type": "tool_use", "id": "other"}, {"type": "text", "length": 2}, SIGNED],
        [{"type": "text", "length": "2"}, SIGNED],
        [{"type": "text", "length": -1}, {"type": "text", "length": 3}, SIGNED, {"type": "tool_use", "id": "t1"}],
        [{"type": "block_of_the_future"}, SIGNED, "odd"],
    ],
)
async def test_thoughts_come_first_where_the_message_was_changed_since(sent, layout):
    body = await sent(talk(user("a"), assistant(thoughts(*layout), "ok", look("t1")), seen("t1")))
    assert [block["type"] for block in body["messages"][1]["content"]] == ["thinking", "text", "tool_use"]


async def test_thoughts_of_others_and_unsigned_ones_are_left_out(sent):
    for foreign in (
        Reasoning(text="hm"),
        Reasoning(text="hm", meta={"deepseek": {"field": "reasoning_content"}}),
        Reasoning(text="hm", meta={"anthropic": "odd"}),
        Reasoning(text="hm", meta={"anthropic": {"blocks": "odd"}}),
        thoughts(SIGNED, key="minimax"),
        thoughts({"type": "thinking", "thinking": "hm", "signature": ""}, {"type": "text", "length": 2}),
    ):
        body = await sent(talk(user("a"), assistant(foreign, "ok"), user("b")))
        assert bare(body)[1]["content"] == [{"type": "text", "text": "ok"}]
    unsigned = thoughts({"type": "thinking", "thinking": "hm", "signature": ""}, key="minimax")
    body = await sent(talk(user("a"), assistant(unsigned, "ok"), user("b")), "minimax")
    assert [block["type"] for block in body["messages"][1]["content"]] == ["thinking", "text"]


async def test_an_answer_that_is_only_a_thought_still_ends_with_text(sent):
    body = await sent(talk(user("a"), assistant(thoughts(SIGNED)), user("b")))
    assert [block["type"] for block in body["messages"][1]["content"]] == ["thinking", "text"]


async def test_thoughts_the_service_no_longer_accepts_are_left_out_from_then_on(service, at, ask, reply):
    bound = (
        "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation."
    )
    refusal = reply.http(400, json.dumps({"error": {"type": "invalid_request_error", "message": bound}}))
    service.script = [refusal]
    service.always = reply.sse(reply.begin(), *reply.text(0, "x"), *reply.finish())
    provider = at()
    new = {**SIGNED, "signature": "bmV3"}
    await ask(provider, talk(user("a"), assistant(thoughts(SIGNED), "b"), user("c")))
    await ask(
        provider, talk(user("a"), assistant(thoughts(SIGNED), "b"), user("c"), assistant(thoughts(new), "d"), user("e"))
    )
    kinds = [[b["type"] for t in asked.body["messages"] for b in t["content"]] for asked in service.asked]
    assert kinds == [
        ["text", "thinking", "text", "text"],
        ["text"] * 3,
        ["text", "text", "text", "thinking", "text", "text"],
    ]
    service.script = [refusal, refusal]
    from hermes_core.errors import Refused

    with pytest.raises(Refused, match="bound to a different"):
        await ask(provider, talk(user("a"), assistant(thoughts(new), "b"), user("c")))
    assert len(service.asked) == 5


SONNET, OPUS, HAIKU, OLD, MID = (
    "claude-sonnet-5-5",
    "claude-opus-5-5",
    "claude-haiku-5-5",
    "claude-haiku-4-5",
    "claude-opus-4-6",
)
SHOWN = {"type": "adaptive", "display": "summarized"}


@pytest.mark.parametrize(
    ("model", "effort", "thinking", "output"),
    [
        (SONNET, "", SHOWN, None),
        (SONNET, "minimal", SHOWN, "low"),
        (SONNET, "xhigh", SHOWN, "xhigh"),
        (SONNET, "none", {"type": "between_tools"}, None),
        (SONNET, "extreme", SHOWN, None),
        (OPUS, "none", SHOWN, "low"),
        (HAIKU, "none", {"type": "disabled"}, None),
        (MID, "", None, None),
        (MID, "none", None, None),
        (MID, "xhigh", SHOWN, "high"),
        (OLD, "", None, None),
        (OLD, "none", None, None),
        (OLD, "low", {"type": "enabled", "budget_tokens": 4096}, None),
        (OLD, "max", {"type": "enabled", "budget_tokens": 32_000}, None),
        ("claude-opus-9", "high", SHOWN, "high"),
        ("llama", "high", None, None),
    ],
)
async def test_effort_is_spelled_as_each_generation_wants_it(sent, model, effort, thinking, output):
    options = {"effort": effort, "temperature": 0.5}
    body = await sent(talk(user("a"), model=model, options=options))
    assert body.get("thinking") == thinking
    assert body.get("output_config") == ({"effort": output} if output else None)
    if thinking and thinking["type"] == "enabled":
        assert body["max_tokens"] > thinking["budget_tokens"]
    assert ("temperature" in body) is (model in (MID, OLD, "llama") and thinking is None)


async def test_a_budget_leaves_room_for_the_answer(sent):
    for most, budget in ((3000, 1500), (2000, None), (64_000, 20_000)):
        body = await sent(talk(user("a"), model=OLD, options={"effort": "high", "max_tokens": most}))
        assert body["max_tokens"] == most
        assert body.get("thinking", {}).get("budget_tokens") == budget


async def test_a_budget_model_does_not_think_over_calls_that_another_model_made(sent):
    before = [user("a"), assistant(look("t1")), seen("t1")]
    options = {"effort": "high"}
    assert "thinking" not in await sent(talk(*before, model=OLD, options=options))
    own = [user("a"), assistant(thoughts(SIGNED, {"type": "tool_use", "id": "t1"}), look("t1")), seen("t1")]
    assert "thinking" in await sent(talk(*own, model=OLD, options=options))
    assert "thinking" in await sent(talk(*before, assistant("b"), user("c"), model=OLD, options=options))


async def test_the_longest_answer_is_within_what_the_model_takes(sent):
    for model, asked, limit in (
        (SONNET, None, 128_000),
        (SONNET, 500, 500),
        (SONNET, 999_999, 128_000),
        (OLD, None, 64_000),
        ("llama", None, 16_000),
    ):
        assert (await sent(talk(user("a"), model=model, options={"max_tokens": asked})))["max_tokens"] == limit


async def test_temperature_is_within_the_protocol_bounds(sent):
    for asked, used in ((0.3, 0.3), (1.7, 1), (-1, 0)):
        body = await sent(talk(user("a"), model="llama", options={"temperature": asked}))
        assert body["temperature"] == used


async def test_schemas_and_names_are_made_to_fit_the_protocol(sent):
    odd = ToolSpec(name="odd", description="", schema={"anyOf": [{}], "properties": {"a": {"anyOf": [{}]}}})
    called = evolve(look("call:1/ü"), name="my tool!")
    body = await sent(talk(user("a"), assistant(called), seen("call:1/ü"), tools=(odd,)))
    assert body["tools"] == [{"name": "odd", "input_schema": {"type": "object", "properties": {"a": {"anyOf": [{}]}}}}]
    use, result = body["messages"][1]["content"][0], body["messages"][2]["content"][0]
    assert use["name"] == "my_tool_"
    assert use["id"] == result["tool_use_id"]
    assert use["id"].replace("_", "").isalnum()
    assert use["id"].isascii()


async def test_a_models_name_is_spelled_as_its_service_does_and_left_alone_elsewhere(sent, keys):
    from hermes_provider_anthropic.entry import load_entry
    from hermes_provider_anthropic.line import open_line

    assert (await sent(talk(user("a"), model="anthropic/claude-opus-4.6")))["model"] == "anthropic/claude-opus-4.6"
    own = open_line(load_entry("anthropic"), "anthropic", keys(), None)
    assert own.spelled("anthropic/claude-opus-4.6") == "claude-opus-4-6"
    assert open_line(load_entry("minimax"), "minimax", keys(), None).spelled("MiniMax-M2.5") == "MiniMax-M2.5"


async def test_the_users_headers_and_extra_body_win(service, sent):
    body = await sent(
        talk(user("a"), model=SONNET),
        headers={"X-Team": "7", "Authorization": "Bearer t", "anthropic-beta": "x"},
        extra_body={"thinking": None, "top_k": 5},
    )
    assert body["top_k"] == 5
    assert "thinking" not in body
    headers = service.asked[-1].headers
    assert (headers["x-team"], headers["authorization"], headers["anthropic-beta"]) == ("7", "Bearer t", "x")


async def test_lone_surrogates_do_not_stop_a_request(sent):
    assert bare(await sent(talk(user("a\ud83d"))))[0]["content"][0]["text"] == "a?"


async def test_a_name_of_the_users_own_keeps_its_own_meta(service, at, ask, reply):
    service.always = reply.sse(reply.begin(), *reply.thought(0, "r", "s"), *reply.finish())
    assert list((await ask(at(called="lab"))).kept) == ["lab"]
    assert list((await ask(at("claude"))).kept) == ["anthropic"], "an alias shares the thoughts of its service"
